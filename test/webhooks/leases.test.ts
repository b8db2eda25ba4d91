// What a process has claimed: how many deliveries, whether each may still be sent, and that the process goes on while
// leases cannot be renewed.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createLeases } from '../../src/webhooks/leases.ts';
import type { Claimed } from '../../src/webhooks/queue.ts';
import { connectTo } from '../db/one-connection.ts';

const LEASE_MS = 30_000;
const db = connectTo('postgres://127.0.0.1:9/');
const warn = vi.fn();
let time = 0;

const start = () => createLeases({ db, log: { warn } as never, now: () => new Date(time) }, LEASE_MS);
const delivery = (sequence: bigint, webhook_id: string) =>
  ({ sequence, webhook_id, claim_id: '00000000-0000-0000-0000-000000000000' }) as Claimed;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  warn.mockClear();
  time = 0;
});
afterEach(() => {
  vi.useRealTimers();
});

it('held deliveries are counted by endpoint', () => {
  const leases = start();
  const [first, ...others] = [delivery(1n, 'a'), delivery(2n, 'a'), delivery(3n, 'b')] as const;
  for (const one of [first, ...others]) leases.hold(one, new Date(LEASE_MS));
  expect([leases.size, leases.count()]).toEqual([
    3,
    new Map([
      ['a', 2],
      ['b', 1],
    ]),
  ]);
  leases.release(first);
  expect([leases.size, leases.count()]).toEqual([
    2,
    new Map([
      ['a', 1],
      ['b', 1],
    ]),
  ]);
  leases.stop();
});

it('a delivery may be sent while more than a third of its lease is left', () => {
  const leases = start();
  const held = delivery(1n, 'a');
  leases.hold(held, new Date(LEASE_MS));
  time = (LEASE_MS * 2) / 3 - 1;
  expect(leases.isSafe(held)).toBe(true);
  time++;
  expect(leases.isSafe(held)).toBe(false);
  leases.stop();
});

it('a failed renewal is logged and tried again every third of a lease, until the leases are stopped', async () => {
  const leases = start();
  const expectWarnings = (times: number) => expect.poll(() => warn.mock.calls.length).toBe(times);
  vi.advanceTimersByTime(LEASE_MS / 3);
  leases.hold(delivery(1n, 'a'), new Date(LEASE_MS));
  for (const times of [1, 2]) {
    vi.advanceTimersByTime(LEASE_MS / 3);
    await expectWarnings(times);
  }
  expect(warn).toHaveBeenLastCalledWith({ err: expect.any(Error) }, 'cannot renew webhook leases');
  leases.stop();
  expect(vi.getTimerCount()).toBe(0);
});
