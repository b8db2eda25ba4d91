// The log's second line of defence: whatever gets into a line, no key, secret or password leaves with it.
import { expect, test } from 'vitest';
import { mintKey } from '../src/apps/keys.ts';
import { createLog } from '../src/log.ts';
import { newSecret } from '../src/webhooks/secrets.ts';

test('keys, webhook secrets, Authorization values and passwords are struck out, wherever they are', async () => {
  const lines: string[] = [];
  const log = await createLog('info', { write: (line) => lines.push(line) });
  const [publicKey, secretKey] = [mintKey('public').key, mintKey('secret').key];
  const secret = newSecret();
  const password = 'p4ss%40word';
  const token = 'abcdefgh12345678';
  log.error({ err: new Error(`no ${secretKey} at postgres://sps:${password}@db:5432/sps`) }, `for ${publicKey}`);
  log.info({ headers: { Authorization: `Api-Key ${secretKey}`, other: `Bearer ${token}` }, secret }, 'request');
  log.info({ webhook: { authorization_value: 'odd "quoted" value', text: `a ${secret}.` } }, 'webhook');
  const text = lines.join('');
  for (const hidden of [publicKey, secretKey].map((key) => key.split('.')[1] as string)) {
    expect(text).not.toContain(hidden);
  }
  for (const hidden of [secret.slice(6), password, token, 'odd', 'quoted']) expect(text).not.toContain(hidden);
  for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
  expect(text).toContain('postgres://sps:…@db:5432/sps');
  expect(text).toContain(secretKey.split('.')[0]);
});

test('a database error is logged without what quotes rows, and otherwise whole', async () => {
  const lines: string[] = [];
  const log = await createLog('info', { write: (line) => lines.push(line) });
  const quoting = { detail: 'Failing row contains (anna@example.com).', where: 'COPY purchase, line 3: "anna"' };
  log.error({ err: Object.assign(new Error('violates check constraint'), { code: '23514', ...quoting }) }, 'failed');
  expect(JSON.parse(lines[0] as string).err).toMatchObject({
    message: 'violates check constraint',
    code: '23514',
    stack: expect.stringContaining('log.test.ts'),
  });
  expect(lines[0]).not.toContain('anna');
  // The errors of a pool whose idle connection broke have this member.
  log.error({ err: Object.assign(new Error('terminated'), { client: { secretKey: 'anna' } }) }, 'failed');
  expect(lines[1]).not.toContain('client');
  const both = [Object.assign(new Error('one'), quoting), new Error('two')];
  log.error({ err: new AggregateError(both, '2 steps failed') }, 'failed');
  const { message, aggregateErrors } = JSON.parse(lines.pop() as string).err;
  expect([message, ...aggregateErrors.map((error: Error) => error.message)]).toEqual(['2 steps failed', 'one', 'two']);
  expect(JSON.stringify(aggregateErrors)).not.toContain('anna');
  for (const err of [null, 'text', 7]) log.error({ err }, 'failed');
  expect(lines.slice(2).map((line) => JSON.parse(line).err)).toEqual([null, 'text', 7]);
});

test('an error of a database that is away has no stack, and neither has one of several that failed alike', async () => {
  const lines: string[] = [];
  const log = await createLog('info', { write: (line) => lines.push(line) });
  const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });
  const alike = new AggregateError([refused(), refused()], '2 steps failed');
  for (const err of [refused(), alike]) log.warn({ err }, 'failed');
  expect(lines.join('')).not.toContain('log.test.ts');
  log.warn({ err: new AggregateError([refused(), new Error('wrong')], '2 steps failed') }, 'failed');
  expect(lines[2]).toContain('log.test.ts');
});

test('what is not secret stays as it is', async () => {
  const lines: string[] = [];
  const log = await createLog('info', { write: (line) => lines.push(line) });
  const details = { path: '/api/v2/web-api/attribution', app_id: '6f1b6f0e-0000-4000-8000-000000000000', key_id: 'k' };
  log.info(details, 'a bearer of news at http://127.0.0.1:8080/x?a=b@c');
  expect(JSON.parse(lines[0] as string)).toMatchObject({
    ...details,
    msg: 'a bearer of news at http://127.0.0.1:8080/x?a=b@c',
  });
});
