// A process that uses the database as the service or a command does, until SIGTERM: `use-database.js ROLE FOLDER`.
import pino from 'pino';
import { openDatabase } from '../../dist/db/open.js';

const [role, folder] = process.argv.slice(2);
try {
  const log = pino(pino.destination(2));
  const database = await openDatabase({ DATABASE_URL: undefined, SPS_DATA_DIR: folder }, { log, role });
  process.once('SIGTERM', async () => {
    await database.close();
    process.exit();
  });
  process.stdout.write(`open ${database.connectionString}\n`);
  setInterval(() => {}, 60_000);
} catch (error) {
  process.stdout.write(`${error.name}: ${error.message}\n`);
  process.exitCode = 1;
}
