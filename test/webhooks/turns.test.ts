// Deliveries that wait for their turn: how many are sent concurrently or claimed ahead, and which are given back.
import { expect, it } from 'vitest';
import type { Claimed } from '../../src/webhooks/queue.ts';
import { createTurns } from '../../src/webhooks/turns.ts';

function createRun() {
  const sent: Claimed[] = [];
  const returned: bigint[] = [];
  const answers: ((isDelivered: boolean) => void)[] = [];
  let time = 0;
  const turns = createTurns({
    maxConcurrent: 2,
    ahead: 3,
    send: (delivery) => {
      sent.push(delivery);
      return new Promise((resolve) => answers.push(resolve));
    },
    giveBack: (deliveries) => returned.push(...deliveries.map(({ sequence }) => sequence)),
    clock: () => time,
  });
  const take = (sequence: bigint, webhook_id = 'a') => turns.take({ sequence, webhook_id } as Claimed);
  const answer = async (isDelivered: boolean) => {
    answers.shift()?.(isDelivered);
    // What follows is sent in the next turn of the event loop.
    for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate);
  };
  const pass = (ms: number) => {
    time += ms;
  };
  return { turns, take, answer, pass, returned, sentNow: () => sent.map(({ sequence }) => sequence) };
}

it('an endpoint is sent few concurrently, the next one when one is delivered, and others do not wait for it', async () => {
  const { take, answer, sentNow } = createRun();
  for (const sequence of [1n, 2n, 3n, 4n, 5n, 6n]) take(sequence);
  take(7n, 'b');
  expect(sentNow()).toEqual([1n, 2n, 7n]);
  await answer(true);
  expect(sentNow()).toEqual([1n, 2n, 7n, 3n]);
  await Promise.all([answer(true), answer(true)]);
  expect(sentNow()).toEqual([1n, 2n, 7n, 3n, 4n]);
  await Promise.all([answer(true), answer(true)]);
  expect(sentNow()).toEqual([1n, 2n, 7n, 3n, 4n, 5n, 6n]);
});

it('what waits for an endpoint that fails is given back, and what waits for others stays', async () => {
  const { take, answer, sentNow, returned } = createRun();
  for (const sequence of [1n, 2n, 3n, 4n]) take(sequence);
  for (const sequence of [5n, 6n, 7n]) take(sequence, 'b');
  await answer(false);
  expect(returned).toEqual([3n, 4n]);
  await answer(true);
  expect(sentNow()).toEqual([1n, 2n, 5n, 6n]);
  await answer(true);
  expect(sentNow()).toEqual([1n, 2n, 5n, 6n, 7n]);
});

it('what has waited for a second is given back, as its endpoint has become slower', async () => {
  const { take, answer, pass, sentNow, returned } = createRun();
  for (const sequence of [1n, 2n, 3n, 4n, 5n]) take(sequence);
  pass(1_000);
  await answer(true);
  expect(sentNow()).toEqual([1n, 2n, 3n]);
  pass(1);
  await answer(true);
  expect(returned).toEqual([4n, 5n]);
  expect(sentNow()).toEqual([1n, 2n, 3n]);
});

it('as many may be claimed ahead as an endpoint has lately taken, none after a failure, and a quarter of a second forgets it', async () => {
  const { turns, take, answer, pass } = createRun();
  expect(turns.countAhead()).toEqual(new Map());
  take(1n);
  take(2n, 'b');
  await answer(true);
  await answer(false);
  expect(turns.countAhead()).toEqual(new Map([['a', 1]]));
  for (const sequence of [3n, 4n, 5n, 6n]) {
    take(sequence);
    await answer(true);
  }
  expect(turns.countAhead()).toEqual(new Map([['a', 3]]));
  pass(125);
  expect(turns.countAhead()).toEqual(new Map([['a', 3]]));
  pass(125);
  expect(turns.countAhead()).toEqual(new Map());
});

it('what an endpoint took counts in this moment and the one before, and nothing from before a failure', async () => {
  const { turns, take, answer, pass } = createRun();
  const deliver = async (isDelivered = true) => {
    take(1n);
    await answer(isDelivered);
  };
  await deliver();
  pass(125);
  await deliver();
  pass(125);
  expect(turns.countAhead()).toEqual(new Map([['a', 1]]));
  await deliver();
  expect(turns.countAhead()).toEqual(new Map([['a', 2]]));
  pass(250);
  expect(turns.countAhead()).toEqual(new Map());
  await deliver();
  pass(125);
  await deliver();
  await deliver(false);
  expect(turns.countAhead()).toEqual(new Map());
  pass(125);
  expect(turns.countAhead()).toEqual(new Map());
});

it('an endpoint that has lately taken nothing is sent no more concurrently', async () => {
  const { turns, take, sentNow } = createRun();
  take(1n);
  take(2n);
  expect(turns.countAhead()).toEqual(new Map());
  take(3n);
  expect(sentNow()).toEqual([1n, 2n]);
});

it('stopping gives back what waits, and ends with what is in progress', async () => {
  const { turns, take, answer, returned } = createRun();
  for (const sequence of [1n, 2n, 3n]) take(sequence);
  let isOver = false;
  const stopped = turns.stop().then(() => {
    isOver = true;
  });
  expect(returned).toEqual([3n]);
  await answer(true);
  expect(isOver).toBe(false);
  await answer(true);
  await stopped;
});
