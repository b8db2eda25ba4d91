// Runs the service until it is asked to stop. Prints one line to standard output as soon as it accepts requests.
import { setFlagsFromString } from 'node:v8';
import { loadConfig } from './config.ts';
import { describeFailure } from './failure.ts';
import { runUntilStopped } from './lifecycle.ts';
import { createLog, logWarnings } from './log.ts';
import { startService } from './service.ts';

// Requests that wait for a commit reach V8's old space, which by default may grow to four times its live data before it
// is collected: that is memory for nothing, while collecting these 30 MB more often takes no measurable time.
setFlagsFromString('--heap-growing-percent=50');
// In about every second process, V8 learned from the slow first seconds that request objects live long, and from then
// on allocated them in its old space, where each kept its request alive until the next full collection. That cost a
// fifth of the throughput of the process.
setFlagsFromString('--no-allocation-site-pretenuring');

// The line may have no reader.
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
  process.stderr.write(`${describeFailure(error)}\n`);
  process.exitCode = 1;
}
