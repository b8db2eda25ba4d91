// Group commit (src/db/group.ts): what is written together, in which order, and what fails together.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { groupCalls } from '../../src/db/group.ts';
import { ApiError } from '../../src/errors.ts';

/** A writer whose groups end or fail when the test says so. */
function createSlowWriter(options = {}) {
  const groups: { items: readonly string[]; end: () => void; fail: (error: Error) => void }[] = [];
  const enqueue = groupCalls(
    (items: readonly string[]) =>
      new Promise<readonly string[]>((resolve, reject) => {
        groups.push({ items, end: () => resolve(items.map((item) => `${item}!`)), fail: reject });
      }),
    options,
  );
  return { enqueue, groups };
}

const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

async function pass(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms);
  await turn();
}

test('items that arrive while a group is being written are written together, in the order of arrival', async () => {
  const { enqueue, groups } = createSlowWriter();
  const first = [enqueue('app', 'a'), enqueue('app', 'b')];
  await turn();
  const later = ['c', 'd', 'e'].map((item) => enqueue('app', item));
  await turn();
  expect(groups.map(({ items }) => items)).toEqual([['a', 'b']]);
  groups[0]?.end();
  expect(await Promise.all(first)).toEqual(['a!', 'b!']);
  await turn();
  expect(groups[1]?.items).toEqual(['c', 'd', 'e']);
  groups[1]?.end();
  expect(await Promise.all(later)).toEqual(['c!', 'd!', 'e!']);
});

test('of many clients that return together, one half is written while the other is answered', async () => {
  const { enqueue, groups } = createSlowWriter();
  const sizes = () => groups.map(({ items }) => items.length);
  const all: Promise<string>[] = [];
  const add = (count: number) => {
    for (let i = 0; i < count; i++) all.push(enqueue('app', `${all.length}`));
  };
  /** Ends the group that is being written; as many items as it had then arrive again. */
  async function end(): Promise<void> {
    const group = groups.at(-1);
    group?.end();
    await turn();
    add(group?.items.length ?? 0);
    await turn();
  }
  add(10);
  await turn();
  add(54);
  await turn();
  for (let i = 0; i < 4; i++) await end();
  expect(sizes()).toEqual([10, 32, 32, 32, 32]);
  for (let i = 0; i < 2; i++) {
    groups.at(-1)?.end();
    await turn();
  }
  expect(groups.flatMap(({ items }) => items)).toEqual(all.map((_, i) => `${i}`));
  await Promise.all(all);
});

test('while a group is slow, others are written at the same time, four in all', async () => {
  const { enqueue, groups } = createSlowWriter();
  const all: Promise<string>[] = [];
  const sizes = () => groups.map(({ items }) => items.length);
  async function add(count: number): Promise<void> {
    for (let i = 0; i < count; i++) all.push(enqueue('app', `${all.length}`));
    await turn();
  }
  await add(1);
  await add(2);
  await pass(7);
  expect(sizes()).toEqual([1]);
  await pass(1);
  expect(sizes()).toEqual([1, 2]);
  // Once the group has been slow for that long, later arrivals need not wait for the timer.
  await pass(20);
  await add(3);
  expect(sizes()).toEqual([1, 2, 3]);
  await pass(8);
  await add(4);
  expect(sizes()).toEqual([1, 2, 3, 4]);
  await add(5);
  await pass(100);
  expect(sizes()).toEqual([1, 2, 3, 4]);
  groups[2]?.end();
  await turn();
  expect(sizes()).toEqual([1, 2, 3, 4, 5]);
  for (const { end } of groups) end();
  await Promise.all(all);
});

test('how long a group counts as fast can be set', async () => {
  const { enqueue, groups } = createSlowWriter({ slowMs: 40 });
  const all = [enqueue('app', 'a')];
  await turn();
  all.push(enqueue('app', 'b'));
  await pass(39);
  expect(groups).toHaveLength(1);
  await pass(1);
  expect(groups).toHaveLength(2);
  for (const { end } of groups) end();
  await Promise.all(all);
});

test('the number of waiting items that starts a second group immediately can be set; only one such group is written at a time', async () => {
  const { enqueue, groups } = createSlowWriter({ secondGroupFrom: 3 });
  const sizes = () => groups.map(({ items }) => items.length);
  const all: Promise<string>[] = [];
  for (const size of [[1], [1], [1], [1, 3], [1, 3], [1, 3], [1, 3]]) {
    all.push(enqueue('app', 'a'));
    await turn();
    expect(sizes()).toEqual(size);
  }
  groups[0]?.end();
  await turn();
  expect(sizes()).toEqual([1, 3, 3]);
  for (const { end } of groups) end();
  await Promise.all(all);
});

test('no item is answered before its group is written', async () => {
  const { enqueue, groups } = createSlowWriter();
  let isAnswered = false;
  const answer = enqueue('app', 'a').then(() => {
    isAnswered = true;
  });
  await turn();
  expect(isAnswered).toBe(false);
  groups[0]?.end();
  await answer;
});

test('the next group is begun before the last one is answered', async () => {
  const { enqueue, groups } = createSlowWriter();
  let begun = 0;
  const first = enqueue('app', 'a').then(() => {
    begun = groups.length;
  });
  await turn();
  const second = enqueue('app', 'b');
  groups[0]?.end();
  await first;
  expect(begun).toBe(2);
  groups[1]?.end();
  await second;
});

test('apps take turns: each gets its share of a group, and a busy one what the others leave of theirs', async () => {
  const { enqueue, groups } = createSlowWriter();
  const blocking = enqueue('x', 'x1');
  await turn();
  const busy = Array.from({ length: 1_000 }, (_, i) => enqueue('busy', `busy ${i}`));
  const lively = Array.from({ length: 30 }, (_, i) => enqueue('lively', `lively ${i}`));
  const quiet = Array.from({ length: 18 }, (_, i) => enqueue(`quiet ${i}`, `quiet ${i}`));
  groups[0]?.end();
  await turn();
  const countOf = (name: string) => groups[1]?.items.filter((item) => item.startsWith(name)).length;
  expect(groups[1]?.items).toHaveLength(200);
  expect([countOf('quiet'), countOf('lively'), countOf('busy')]).toEqual([18, 30, 152]);
  for (let i = 1; i < 20; i++) {
    groups[i]?.end();
    await turn();
  }
  await Promise.all([blocking, ...busy, ...lively, ...quiet]);
});

test('if there are more apps than a group has room for, all get their turn', async () => {
  const { enqueue, groups } = createSlowWriter();
  const blocking = enqueue('x', 'x1');
  await turn();
  const apps = Array.from({ length: 250 }, (_, i) => `app ${i}`);
  const all = apps.flatMap((app) => [1, 2].map((i) => enqueue(app, `${app} ${i}`)));
  for (let i = 0; i < 3; i++) {
    groups[i]?.end();
    await turn();
  }
  const firsts = groups.slice(1, 3).flatMap(({ items }) => items.filter((item) => item.endsWith(' 1')));
  expect(new Set(firsts).size).toBe(250);
  for (let i = 3; i < 10; i++) {
    groups[i]?.end();
    await turn();
  }
  await Promise.all([blocking, ...all]);
});

test('one bad item fails alone', async () => {
  const enqueue = groupCalls(async (items: readonly string[]) => {
    if (items.includes('bad')) throw new Error('a bad item');
    return items;
  });
  const results = await Promise.allSettled(['a', 'bad', 'c'].map((item) => enqueue('app', item)));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('an item that fails in a group of its own is not tried again', async () => {
  let attempts = 0;
  const enqueue = groupCalls(async () => {
    attempts++;
    throw new Error('a bad item');
  });
  await expect(enqueue('app', 'bad')).rejects.toThrow('a bad item');
  expect(attempts).toBe(1);
});

test.each([
  ['waits for a lock too long', '55P03'],
  ['runs into a deadlock', '40P01'],
])('an item that %s fails alone', async (_, code) => {
  const enqueue = groupCalls(async (items: readonly string[]) => {
    if (items.includes('held')) throw Object.assign(new Error('of one item'), { code });
    return items;
  });
  const results = await Promise.allSettled(['a', 'held', 'c'].map((item) => enqueue('app', item)));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

describe('a locked item', () => {
  let release: () => void;
  let free: Promise<void>;
  let attempts: (readonly string[])[];
  let together: (readonly string[])[];
  beforeEach(() => {
    attempts = [];
    together = [];
    free = new Promise((resolve) => {
      release = resolve;
    });
  });

  /** An item is named by its first word; items whose name begins with `held` are locked. */
  const isHeld = (item: string) => item.startsWith('held');
  async function writeUnlessHeld(items: readonly string[]): Promise<readonly string[]> {
    attempts.push(items);
    if (items.some(isHeld)) throw Object.assign(new Error('of one item'), { code: '55P03' });
    return items;
  }
  const createPatientWriter = () =>
    groupCalls(writeUnlessHeld, {
      whenLocked: {
        lockKeyOf: (item) => item.split(' ')[0]!,
        writeIfFree: writeUnlessHeld,
        write: async (items) => {
          together.push(items);
          await free;
          return items.map((item) => `${item} at last`);
        },
        maxConcurrent: 2,
      },
    });

  test('waits outside the groups, which go on; it is tried once, and written together with others of its name', async () => {
    const enqueue = createPatientWriter();
    const items = ['held 1', 'a', 'held 2', 'b'];
    const answers = items.map((item) => enqueue('app', item));
    expect(await Promise.all([answers[1], answers[3]])).toEqual(['a', 'b']);
    expect(attempts).toEqual([items, ['held 1'], ['a'], ['b']]);
    // The name is known as held by now, so no group fails because of it.
    const later = Array.from({ length: 60 }, (_, i) => enqueue('app', `held ${3 + i}`));
    expect(await enqueue('app', 'c')).toBe('c');
    expect(attempts.slice(4)).toEqual([['c']]);
    expect(together).toEqual([['held 1']]);
    release();
    expect(await Promise.all([answers[0], answers[2], ...later])).toEqual(
      Array.from({ length: 62 }, (_, i) => `held ${1 + i} at last`),
    );
    expect(together.map(({ length }) => length)).toEqual([1, 50, 11]);
    expect(await enqueue('app', 'd')).toBe('d');
  });

  test('waits by name, with few names at a time and with a bound', async () => {
    const enqueue = createPatientWriter();
    const answers = Array.from({ length: 1_200 }, (_, i) => enqueue('app', `held${i % 6} ${i}`));
    const ended = Promise.allSettled(answers);
    // The first items of two names are being tried, and a thousand wait.
    const refusals = await Promise.all(answers.slice(1_002).map((one) => one.catch((error: ApiError) => error)));
    expect(refusals.map((error) => (error as ApiError).statusCode)).toEqual(refusals.map(() => 503));
    expect(together.map(([item]) => item!.split(' ')[0])).toEqual(['held0', 'held1']);
    release();
    expect((await ended).filter(({ status }) => status === 'fulfilled')).toHaveLength(1_002);
    expect(new Set(together.slice(2, 6).map(([item]) => item!.split(' ')[0])).size).toBe(4);
  });

  test('waits with at most 250 others of its name', async () => {
    const enqueue = createPatientWriter();
    const answers = Array.from({ length: 300 }, (_, i) => enqueue('app', `held ${i}`));
    const ended = Promise.allSettled(answers);
    // The first item is being tried.
    const refusals = await Promise.all(answers.slice(251).map((one) => one.catch((error: ApiError) => error)));
    expect(refusals.map((error) => (error as ApiError).statusCode)).toEqual(refusals.map(() => 503));
    release();
    expect((await ended).filter(({ status }) => status === 'fulfilled')).toHaveLength(251);
  });

  test('is refused if its lock is held too long, with all that wait for it, and no others', async () => {
    let isOver = false;
    const enqueue = groupCalls(writeUnlessHeld, {
      whenLocked: {
        lockKeyOf: (item) => item.split(' ')[0]!,
        writeIfFree: writeUnlessHeld,
        write: async (items) => {
          await free;
          if (!isOver && items[0]!.startsWith('held1')) throw Object.assign(new Error('held'), { code: '55P03' });
          return items;
        },
        maxConcurrent: 1,
      },
    });
    const of = (name: string, count: number) => Array.from({ length: count }, (_, i) => enqueue('app', `${name} ${i}`));
    const one = Promise.allSettled(of('held1', 300));
    const other = Promise.all(of('held2', 3));
    await turn();
    release();
    expect((await one).every(({ status }) => status === 'rejected')).toBe(true);
    expect(await other).toHaveLength(3);
    isOver = true;
    expect(await enqueue('app', 'held1 again')).toBe('held1 again');
  });
});

test('if the database is away, a group fails as a whole, without retries', async () => {
  let attempts = 0;
  const enqueue = groupCalls(async () => {
    attempts++;
    throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  });
  const results = await Promise.allSettled(['a', 'b', 'c'].map((item) => enqueue('app', item)));
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(attempts).toBe(1);
});

test('if the database goes away while items are tried one by one, the rest are not tried', async () => {
  const attempts: (readonly string[])[] = [];
  const enqueue = groupCalls(async (items: readonly string[]) => {
    attempts.push(items);
    if (items.length > 1) throw Object.assign(new Error('of one item'), { code: '55P03' });
    if (items[0] !== 'a') throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    return items;
  });
  const results = await Promise.allSettled(['a', 'b', 'c', 'd'].map((item) => enqueue('app', item)));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
  expect(attempts).toEqual([['a', 'b', 'c', 'd'], ['a'], ['b']]);
});

test('a full queue immediately refuses with 503 and Retry-After; waiting items are still written, and other apps find room', async () => {
  const { enqueue, groups } = createSlowWriter();
  const waiting = Array.from({ length: 10_000 }, (_, i) => enqueue('app', `${i}`));
  const refusal = await enqueue('app', 'one too many').catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(ApiError);
  expect(refusal).toMatchObject({ statusCode: 503, headers: { 'retry-after': '1' } });
  waiting.push(...Array.from({ length: 10_000 }, (_, i) => enqueue('other', `${i}`)));
  await expect(enqueue('third', 'one too many')).rejects.toMatchObject({ statusCode: 503 });
  const ending = setInterval(() => {
    for (const { end } of groups) end();
  }, 1);
  expect(await Promise.all(waiting)).toHaveLength(20_000);
  clearInterval(ending);
});
