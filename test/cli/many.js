// Runs commands of a program one after the other in one process, as starting a process takes longer than most commands do:
// for every message, which is a list of arguments, the entry file anew and the modules behind it once.
import { pathToFileURL } from 'node:url';

const program = pathToFileURL(process.argv[2]);
let printed = { stdout: '', stderr: '' };
for (const name of ['stdout', 'stderr']) {
  process[name].write = (text, written) => {
    printed[name] += text;
    written?.();
    return true;
  };
}
// Each command listens to these and stays.
process.setMaxListeners(0);
process.stdout.setMaxListeners(0);
process.stderr.setMaxListeners(0);

/** Answers with how the command ended; where it ends the process, with that, whatever is done after it. */
let answer;
// What commander refuses or helps with ends so.
process.exit = (code) => {
  answer(code);
  throw new Error('the command has ended its process');
};

let count = 0;
process.on('message', async (args) => {
  let isAnswered = false;
  answer = (code) => {
    if (!isAnswered) process.send({ code, ...printed });
    isAnswered = true;
  };
  process.argv = [process.execPath, program.pathname, ...args];
  process.exitCode = 0;
  printed = { stdout: '', stderr: '' };
  program.search = `${++count}`;
  await import(program.href);
  answer(process.exitCode);
});
