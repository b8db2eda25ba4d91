// Row 5: the time from the answer to a grant until its webhook is received, on an idle service. The receiver is in this
// process, so that both moments are read from the same clock.
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Benchmark, type Context, issueKeys } from '../context.ts';
import { median } from '../measure.ts';
import { startService } from '../processes.ts';
import { inMs, type Row } from '../report.ts';
import { GRANT_PATH } from './grants.ts';
import { addEndpoints, removeEndpoints } from './webhooks.ts';

const TIMEOUT_MS = 10_000;
const PAUSE_MS = 50;

async function run(context: Context): Promise<Row[]> {
  const { size, folder } = context;
  const dataset = await context.large();
  const keys = await issueKeys(dataset);
  let onReceived: (at: number) => void = () => undefined;
  const receiver = createServer((request, response) => {
    request.resume();
    request.once('end', () => {
      onReceived(performance.now());
      response.writeHead(200, { 'content-length': 0 }).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  // A benchmark that fails leaves the receiver open, which must not keep this process from ending.
  receiver.unref();
  await removeEndpoints(dataset);
  await addEndpoints(dataset, [`http://127.0.0.1:${(receiver.address() as { port: number }).port}/`]);
  const service = await startService({ databaseUrl: dataset.url, logFile: join(folder, 'service.log') });

  async function grantOnce(number: number): Promise<number> {
    const received = new Promise<number>((resolve, reject) => {
      onReceived = resolve;
      setTimeout(() => reject(new Error('a webhook did not arrive')), TIMEOUT_MS).unref();
    });
    const answer = await fetch(`${service.url}${GRANT_PATH}`, {
      method: 'POST',
      headers: {
        authorization: `Api-Key ${keys.secret}`,
        'content-type': 'application/json',
        'service-customer-user-id': `user-${number}`,
      },
      body: JSON.stringify({ access_level_id: 'premium' }),
    });
    await answer.text();
    const answeredAt = performance.now();
    return Math.max(0, (await received) - answeredAt);
  }

  const samples: number[] = [];
  for (let number = 0; number < size.latencySamples; number++) {
    samples.push(await grantOnce(number));
    await sleep(PAUSE_MS);
  }
  await service.stop();
  receiver.closeAllConnections();
  receiver.close();
  await removeEndpoints(dataset);
  const max = Math.max(...samples);
  return [
    {
      id: '5',
      work: `grant answered → webhook received, idle service, ${samples.length} grants`,
      measured: `median ${inMs(median(samples))}, at most ${inMs(max)}`,
      against: '–',
      goal: 'median ≤ 30 ms',
      isReached: median(samples) <= 30,
    },
  ];
}

export const latency: Benchmark = { name: 'latency', title: 'row 5: latency from a grant to its webhook', run };
