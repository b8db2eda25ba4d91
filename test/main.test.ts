// The service as a process. For failing starts and stopping with requests in progress, see test/failure/.
import { expect, test } from 'vitest';
import { statusOf, useMainProgram } from './setup/main-program.ts';

const { startReady } = useMainProgram();

test('the service prints one line when ready and ends with 0 when asked to stop', { timeout: 60_000 }, async () => {
  const service = await startReady();
  expect(await statusOf(`${service.url}/healthz`)).toBe(200);
  expect(await statusOf(`${service.url}/readyz`)).toBe(200);
  service.child.kill('SIGTERM');
  expect(await service.ended).toBe(0);
  expect(service.stdout()).toBe(`ready: ${service.url}\n`);
  const log = service
    .stderr()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).msg);
  expect(log).toContain(`listening at ${service.url}`);
  expect(log.slice(-2)).toEqual(['stopping', 'stopped']);
});
