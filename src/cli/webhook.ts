// sps webhook: the endpoints to which an app's events are sent, and the outcome of deliveries.
import { text } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { counted } from '../lib/counted.ts';
import { OperatorError } from '../operator-error.ts';
import { addWebhook, changeWebhook, type WebhookChange } from '../webhooks/endpoint-settings.ts';
import {
  disableWebhook,
  enableWebhook,
  listWebhooks,
  removeWebhook,
  resumeWebhook,
  rotateWebhookSecret,
  testWebhook,
} from '../webhooks/endpoints.ts';
import { DELIVERY_STATES, type DeliveryState } from '../webhooks/queue.ts';
import { DEFAULT_LISTED, listDeliveries, type Replay, replayDeliveries } from '../webhooks/replay.ts';
import { appOption, choice, limitOption } from './options.ts';
import type { Operator, Perform } from './perform.ts';
import { readText } from './read-text.ts';
import { formatMembers, formatTable } from './table.ts';

interface TargetOptions {
  /** False if the header is to be removed. */
  authorization?: string | false;
  authorizationFile?: string;
  events?: string;
  verify: boolean;
}

type AddOptions = TargetOptions & { app: string; url: string };
type ChangeOptions = TargetOptions & { url?: string };

const ON_ONE: readonly (readonly [string, string, (deps: Operator['deps'], id: string) => Promise<object>])[] = [
  ['enable', 'enable a disabled webhook; its pending deliveries are sent', enableWebhook],
  [
    'disable',
    'disable a webhook; its pending deliveries are kept, and no new events are written for it',
    disableWebhook,
  ],
  [
    'resume',
    'send pending deliveries now, for a webhook that the service suspended or whose receiver has recovered',
    resumeWebhook,
  ],
  [
    'rotate',
    'issue a new secret, shown only once; for a day, deliveries are signed with the old one, too',
    rotateWebhookSecret,
  ],
  ['test', 'send a signed test event, which must be answered with 2xx', testWebhook],
  ['remove', 'remove a webhook; its pending deliveries are never sent', removeWebhook],
];

/** All users of the machine can see an argument; a file need not be visible to them. */
async function readAuthorization(file: string): Promise<string> {
  return (file === '-' ? await text(process.stdin) : await readText(file)).trimEnd();
}

/** Adds the options that adding and changing have in common. */
function withTarget(command: Command): Command {
  return command
    .option(
      '--authorization <value>',
      'value of the Authorization header; other users of this machine can see it while the command runs',
    )
    .addOption(
      new Option('--authorization-file <file>', 'file that holds that value; - is standard input').conflicts(
        'authorization',
      ),
    )
    .option('--no-verify', 'skip the test event, which must otherwise be answered with 2xx');
}

const ALL_EVENTS = 'all';

async function readTarget({ authorization, authorizationFile, events, verify }: TargetOptions): Promise<WebhookChange> {
  const value = authorizationFile ? await readAuthorization(authorizationFile) : authorization;
  const types = events === ALL_EVENTS ? null : events?.split(',').map((type) => type.trim());
  return {
    verify,
    ...(value !== undefined && { authorization: value === false ? null : value }),
    ...(types !== undefined && { events: types }),
  };
}

function addAddCommand(webhook: Command, perform: Perform): void {
  const add = webhook
    .command('add')
    .description('add an enabled webhook; its secret is shown only once')
    .addOption(appOption())
    .requiredOption('--url <url>', 'address to send events to')
    .option('--events <types>', 'event types to send, separated by commas', ALL_EVENTS);
  withTarget(add).action(({ app, url, ...options }: AddOptions) =>
    perform(async ({ deps }) => {
      const answer = await addWebhook(deps, { appId: app, url, ...(await readTarget(options)) });
      return { answer, text: formatMembers(answer) };
    }),
  );
}

function addChangeCommand(webhook: Command, perform: Perform): void {
  const change = webhook
    .command('change')
    .description(
      "change a webhook's address, Authorization header or events; its secret stays, and pending deliveries go to the new address",
    )
    .argument('<webhook-id>')
    .option('--url <url>', 'address to send events to')
    .option('--events <types>', `event types to send from now on, separated by commas, or ${ALL_EVENTS}`);
  withTarget(change)
    .option('--no-authorization', 'send no Authorization header')
    .action((webhookId: string, { url, ...options }: ChangeOptions) =>
      perform(async ({ deps }) => {
        const target = await readTarget(options);
        const answer = await changeWebhook(deps, { webhookId, ...(url !== undefined && { url }), ...target });
        return { answer, text: formatMembers(answer) };
      }),
    );
}

function addListCommand(webhook: Command, perform: Perform): void {
  webhook
    .command('list')
    .description('list the webhooks with their state and its reason')
    .option('--app <id>', 'list only those of this app')
    .action(({ app }: { app?: string }) =>
      perform(async ({ deps }) => {
        const webhooks = await listWebhooks(deps, app);
        const columns = [
          'webhook_id',
          'app_id',
          'url',
          'state',
          'state_reason',
          'failed_attempts',
          'pending',
          'dead',
        ] as const;
        return { answer: { webhooks }, text: formatTable(webhooks, columns) };
      }),
    );
}

function selectionOf(webhookId?: string, since?: string, deliveryId?: string): Replay {
  if (webhookId !== undefined && since !== undefined && deliveryId === undefined) return { webhookId, since };
  if (deliveryId !== undefined && webhookId === undefined && since === undefined) return { deliveryId };
  throw new OperatorError('Give a webhook and --since, or --delivery alone.');
}

function addDeliveryCommands(webhook: Command, perform: Perform): void {
  webhook
    .command('deliveries')
    .description('list the newest deliveries of a webhook')
    .argument('<webhook-id>')
    .addOption(choice('--state <state>', 'list only those in this state', DELIVERY_STATES))
    .addOption(limitOption(DEFAULT_LISTED))
    .action((webhookId: string, options: { state?: DeliveryState; limit?: number }) =>
      perform(async ({ deps }) => {
        const deliveries = await listDeliveries(deps, webhookId, options);
        const columns = [
          'delivery_id',
          'event_type',
          'state',
          'attempts',
          'last_status',
          'last_error',
          'created_at',
        ] as const;
        return { answer: { deliveries }, text: formatTable(deliveries, columns) };
      }),
    );
  webhook
    .command('replay')
    .description('send deliveries again: the dead ones of a webhook since a datetime, or a single delivery')
    .argument('[webhook-id]')
    .option('--since <datetime>', 'replay events created at or after this time')
    .option('--delivery <id>', 'replay only this delivery, dead or delivered')
    .action((webhookId: string | undefined, { since, delivery }: { since?: string; delivery?: string }) =>
      perform(async ({ deps }) => {
        const answer = await replayDeliveries(deps, selectionOf(webhookId, since, delivery));
        return { answer, text: `Queued ${counted(answer.replayed, 'delivery', 'deliveries')} to be sent again.` };
      }),
    );
}

export function addCommands(program: Command, perform: Perform): void {
  const webhook = program.command('webhook').description('manage the webhooks of an app and their deliveries');
  addAddCommand(webhook, perform);
  addChangeCommand(webhook, perform);
  addListCommand(webhook, perform);
  for (const [name, description, operate] of ON_ONE) {
    webhook
      .command(name)
      .description(description)
      .argument('<webhook-id>')
      .action((webhookId: string) =>
        perform(async ({ deps }) => {
          const answer = await operate(deps, webhookId);
          return { answer, text: formatMembers(answer) };
        }),
      );
  }
  addDeliveryCommands(webhook, perform);
}
