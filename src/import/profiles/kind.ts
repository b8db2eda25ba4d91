// How an import reads and writes profiles.
import { randomUUID } from 'node:crypto';
import { createLabels } from '../../attribution/labels.ts';
import { ONE_RUN } from '../../db/server-run.ts';
import type { Session } from '../../db/session.ts';
import { inTransaction } from '../../db/transactions.ts';
import { raiseVersion } from '../../facts/version.ts';
import { timestampOf } from '../../lib/datetime.ts';
import type { Kind, WriteContext, Written } from '../kind.ts';
import { applyRecords, type KeyedRecord } from './apply.ts';
import { lockNamedProfiles, writeProfiles } from './queries.ts';
import { type ProfileRecord, ProfileRecordBody, parseProfile } from './record.ts';

/**
 * Replaces the attributions of records by the keys of their labels. The key of a label never changes, so this need not
 * happen in the transaction that writes them.
 */
async function withKeys({ db }: Session, records: readonly ProfileRecord[]): Promise<KeyedRecord[]> {
  const labels = records.flatMap(({ attribution }) => (attribution ? [attribution.label] : []));
  const keys = (labels.length > 0 ? await createLabels(ONE_RUN).keysOf(db, labels) : []).values();
  return records.map(({ attribution, ...record }) => ({
    ...record,
    attribution: attribution && {
      attribution_key: keys.next().value as number,
      attribution_user_id: attribution.attribution_user_id,
    },
  }));
}

async function write(
  session: Session,
  { app, now, onHandedOver }: WriteContext,
  records: readonly ProfileRecord[],
): Promise<Written> {
  const keyed = await withKeys(session, records);
  const settings = {
    now: timestampOf(now()),
    policy: app.attribution_policy,
    newId: randomUUID,
  };
  return inTransaction(session.db, async (trx) => {
    const known = await lockNamedProfiles(trx, app, keyed);
    const { changes, verdicts } = applyRecords(known, keyed, settings);
    onHandedOver();
    await writeProfiles(trx, app, changes);
    await raiseVersion(trx, app.app_key);
    const refused = new Map(verdicts.flatMap((one, index) => (typeof one === 'string' ? [] : [[index, one] as const])));
    return { written: verdicts.filter((one) => one === 'written').length, refused };
  });
}

export const PROFILES: Kind<ProfileRecord> = {
  schema: ProfileRecordBody,
  parse: parseProfile,
  tables: ['profile', 'profile_identity', 'profile_attribution', 'fact_install'],
  write,
};
