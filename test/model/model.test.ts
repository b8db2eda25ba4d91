// The service against a model in memory: arbitrary sequences of operations get the answers of the model, and at the end
// charts show its figures.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type TestService } from '../setup/service.ts';
import { emptyWorld, figuresOf, perform, type World } from './model.ts';
import {
  arbitraryOperations,
  type Client,
  CUSTOMERS,
  createClient,
  type Named,
  type Operation,
  type Reference,
  readFigures,
  readOutcome,
  reference,
  send,
} from './operations.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

/** An operation whose profile is looked up when it runs. */
class Performed implements fc.AsyncCommand<World, Client> {
  readonly operation: Operation;

  constructor(operation: Operation) {
    this.operation = operation;
  }

  check(): boolean {
    return true;
  }

  private resolve(world: World): Operation {
    const { customer, nth } = this.operation.named as Reference;
    const ids = Object.keys(world.profiles);
    const profile = nth === undefined ? undefined : (ids[nth] ?? ids.at(-1) ?? randomUUID());
    const named: Named = { ...(customer !== undefined && { customer }), ...(profile !== undefined && { profile }) };
    return { ...this.operation, named };
  }

  async run(world: World, client: Client): Promise<void> {
    const operation = this.resolve(world);
    const outcome = readOutcome(await send(client, operation), client.madeAt);
    expect(outcome).toEqual(perform(world, operation, outcome.view?.profile_id ?? ''));
  }

  toString(): string {
    return JSON.stringify(this.operation);
  }
}

const commands = fc.commands(
  arbitraryOperations(reference as fc.Arbitrary<Named>).map((one) => one.map((operation) => new Performed(operation))),
  { maxCommands: 40, size: 'max' },
);

function withoutZeros(revenue: Record<string, number>) {
  return Object.fromEntries(
    Object.entries(revenue)
      .map(([campaign, value]) => [campaign, Math.round(value * 1e6) / 1e6] as const)
      .filter(([, value]) => value !== 0),
  );
}

test.each(['refuse', 'transfer'] as const)(
  'create, update, attribute, grant, revoke, set transaction and delete answer like the model in an app with sharing %s',
  async (sharing) => {
    await fc.assert(
      fc.asyncProperty(commands, async (sequence) => {
        const world = emptyWorld(sharing);
        const client = await createClient(service, sharing);
        for (const customer of CUSTOMERS) {
          await new Performed({ op: 'create', named: { customer }, attributes: {} }).run(world, client);
        }
        await fc.asyncModelRun(() => ({ model: world, real: client }), sequence);
        const { revenue, installs } = figuresOf(world);
        const figures = await readFigures(client);
        expect({ ...figures, revenue: withoutZeros(figures.revenue) }).toEqual({
          revenue: withoutZeros(revenue),
          installs,
        });
      }),
      { numRuns: Number(process.env.MODEL_RUNS ?? 20), endOnFailure: false },
    );
  },
  600_000,
);
