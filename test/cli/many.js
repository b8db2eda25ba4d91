// Runs the commands of a program one after the other in one process, because starting a process takes longer than most
// commands do. Each message holds a command's arguments; it loads the entry file again, but no module behind it twice.
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
// Every command adds listeners and never removes them.
process.setMaxListeners(0);
process.stdout.setMaxListeners(0);
process.stderr.setMaxListeners(0);

/** Sends how the command ended. Only the first call counts: if the command exits, nothing after that matters. */
let answer;
// Commander exits this way after a usage error or help.
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
