// Imports currency rates from a CSV with the columns date,currency,usd_per_unit: all of them or, if one is wrong, none.
import { extname } from 'node:path';
import type { Deps } from '../deps.ts';
import { parseDatetime } from '../lib/datetime.ts';
import { OperatorError } from '../operator-error.ts';
import type { Cells } from './csv.ts';
import type { Entry } from './entry.ts';
import { lockRates, type Rate, upsertRates } from './rate-queries.ts';
import { openSource } from './source.ts';

const PER_STATEMENT = 5_000;
const COLUMNS = ['date', 'currency', 'usd_per_unit'];

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && parseDatetime(`${text}T00:00:00Z`) !== undefined;
}

function faultOf({ date = '', currency = '', usd_per_unit = '' }: Cells): string | undefined {
  if (!isDate(date)) return `date must be YYYY-MM-DD, not ${JSON.stringify(date)}.`;
  if (!/^[A-Z]{3}$/.test(currency)) return `currency must be three capital letters, not ${JSON.stringify(currency)}.`;
  if (!/^\d{1,9}(\.\d{1,12})?$/.test(usd_per_unit) || Number(usd_per_unit) === 0) {
    return `usd_per_unit must be a number above 0 and below 10^9 with at most 12 decimals, not ${JSON.stringify(usd_per_unit)}.`;
  }
  return undefined;
}

function refusal(fault: string): OperatorError {
  return new OperatorError(`${fault} No rates were imported.`);
}

function readRate(entry: Entry): Rate {
  if ('fault' in entry) throw refusal(`Line ${entry.line}: ${entry.fault}`);
  const cells = entry.value as Cells;
  const missing = COLUMNS.find((name) => !(name in cells));
  if (missing) throw refusal(`There is no column ${missing}: the first line must name ${COLUMNS.join(', ')}.`);
  const fault = faultOf(cells);
  if (fault !== undefined) throw refusal(`Line ${entry.line}: ${fault}`);
  return {
    rate_date: cells.date as string,
    currency: cells.currency as string,
    usd_per_unit: cells.usd_per_unit as string,
  };
}

/**
 * Imports the rates of a file. A rate given again replaces the earlier one; amounts already recorded stay as they are.
 */
export async function importRates({ db }: Pick<Deps, 'db'>, file: string): Promise<{ read: number }> {
  if (extname(file).toLowerCase() !== '.csv')
    throw new OperatorError(`Rates are read from a CSV: the name of ${file} must end in .csv.`);
  const source = await openSource(file, { toValue: (cells) => cells, columnOf: (name) => name });
  try {
    // Not inTransaction, which starts over after a conflict: the file can be read only once. There are no conflicts,
    // because writers of rates take turns.
    return await db.transaction().execute(async (trx) => {
      await lockRates(trx);
      let read = 0;
      let batch = new Map<string, Rate>();
      const write = async () => {
        if (batch.size > 0) await upsertRates(trx, [...batch.values()]);
        batch = new Map();
      };
      for await (const entries of source.entries) {
        for (const rate of entries.map(readRate)) batch.set(`${rate.currency} ${rate.rate_date}`, rate);
        read += entries.length;
        if (batch.size >= PER_STATEMENT) await write();
      }
      await write();
      return { read };
    });
  } finally {
    source.close();
  }
}
