import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { FULL } from './context.ts';
import { provideDatasets } from './data/datasets.ts';
import { openServer, query } from './database.ts';
import { startService } from './processes.ts';
const say = (s: string) => console.log(new Date().toISOString().slice(11, 19), s);
const folder = fileURLToPath(new URL('.data/full/', import.meta.url));
const server = await openServer(folder, undefined);
try {
  const dataset = await (await provideDatasets(server, { made: FULL.made, say })).large;
  const count = async () => JSON.stringify((await query(dataset.url, 'select (select count(*) from label_pending) labels, (select count(*) from fact_moved) moved'))[0]);
  const service = await startService({ databaseUrl: dataset.url, logFile: join(folder, 'scratch.log') });
  for (let i = 0; i < 6; i++) { say(await count()); await sleep(5000); }
  await service.stop();
} finally { await server.close(); }
process.exit(0);
