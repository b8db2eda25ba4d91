// Writes the made-up profiles and their transactions as files to import.

import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { makePerson, type World } from './people.ts';

const BLOCK_CHARACTERS = 256 * 1024;

interface Lines {
  write: (value: object) => Promise<void>;
  end: () => Promise<void>;
}

function openLines(file: string): Lines {
  const stream = createWriteStream(file);
  let block = '';
  const flush = async () => {
    const isRoom = stream.write(block);
    block = '';
    if (!isRoom) await once(stream, 'drain');
  };
  return {
    write: async (value) => {
      block += `${JSON.stringify(value)}\n`;
      if (block.length >= BLOCK_CHARACTERS) await flush();
    },
    end: async () => {
      await flush();
      stream.end();
      await once(stream, 'finish');
    },
  };
}

export interface Files {
  profiles: string;
  transactions: string;
}

/** Writes the files and returns the number of transactions. */
export async function writeFiles(world: World, { profiles, transactions }: Files): Promise<number> {
  const [people, purchases] = [openLines(profiles), openLines(transactions)];
  let count = 0;
  for (let index = 0; index < world.people; index++) {
    const { transactions: bought, installed_at, attribution, ...profile } = makePerson(world, index);
    await people.write({
      ...profile,
      installed_at: new Date(installed_at).toISOString(),
      ...(attribution && { attribution }),
    });
    for (const transaction of bought)
      await purchases.write({ customer_user_id: profile.customer_user_id, ...transaction });
    count += bought.length;
  }
  await people.end();
  await purchases.end();
  return count;
}
