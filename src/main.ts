// Serves until it is told to stop. Standard output gets one line, when requests are answered.
import { setFlagsFromString } from 'node:v8';
import { loadConfig } from './config.ts';
import { inWords } from './failure.ts';
import { runUntilStopped } from './lifecycle.ts';
import { createLog, logWarnings } from './log.ts';
import { startService } from './service.ts';

// Requests that wait for a commit reach V8's old space, which by default may grow to four times what is alive before it is cleared:
// that is memory for nothing, while clearing these 30 MB more often takes no measurable time.
setFlagsFromString('--heap-growing-percent=50');
// In about every second process V8 learned from the slow first seconds that objects of requests live long, and from then on made them in its old
// space, where each kept its request until the next full collection. That cost a fifth of what the process could do.
setFlagsFromString('--no-allocation-site-pretenuring');

// Nobody may care for the line.
process.stdout.on('error', () => undefined);

try {
  const config = loadConfig();
  const logging = createLog(config.LOG_LEVEL);
  logWarnings(logging);
  const log = await logging;
  await runUntilStopped(config, log, async (ending) => {
    const service = await startService(config, log, ending);
    const admin = service.adminUrl === service.baseUrl ? '' : `, admin ${service.adminUrl}`;
    process.stdout.write(`ready: ${service.baseUrl}${admin}\n`);
    return service;
  });
} catch (error) {
  process.stderr.write(`${inWords(error)}\n`);
  process.exitCode = 1;
}
