// npm run soak -- --minutes 10: runs a mixed load through kills and restarts, then accounts for it (test/soak/). Exits
// with 1 on any loss.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runnerImport } from 'vite';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    /** Requests per second, all operations together. */
    rate: { type: 'string', default: '100' },
    /** The same seed gives the same requests in the same proportions, and the same failures of the receiver. */
    seed: { type: 'string', default: '1' },
  },
});
const options = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)]));
if (!(options.minutes > 0 && options.minutes <= 1440 && options.rate > 0 && Number.isInteger(options.seed))) {
  process.stderr.write('Usage: npm run soak -- [--minutes 10] [--rate 100] [--seed 1]; at most 1440 minutes\n');
  process.exit(2);
}
const main = fileURLToPath(new URL('../test/soak/main.ts', import.meta.url));
const { module } = await runnerImport(main, { logLevel: 'error' });
process.exit((await module.soak(options)) ? 0 : 1);
