// The parts of the embedded server that need none.
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { parsePostmaster } from '../../src/db/embedded/postmaster.ts';
import { firstComplaint } from '../../src/db/embedded/problem.ts';
import { serverSettings, settingArguments } from '../../src/db/embedded/settings.ts';

const GIB = 1024 ** 3;

describe('postmaster.pid', () => {
  it('tells process, port and state', () => {
    const text = '417\n/data/cluster\n1763712000\n25226\n\n127.0.0.1\n  2362   13\nready   \n';
    expect(parsePostmaster(text)).toEqual({ text, pid: 417, port: 25226, state: 'ready' });
  });

  it('may be half written', () => {
    expect(parsePostmaster('417\n/data/clus')).toMatchObject({ pid: 417, port: 0, state: '' });
    expect(parsePostmaster('')).toMatchObject({ pid: 0, port: 0, state: '' });
  });
});

describe('a complaint', () => {
  it('is the first reason, without time and process', () => {
    const output = [
      '2026-01-01 00:00:00.000 UTC [7] LOG:  starting PostgreSQL',
      '2026-01-01 00:00:00.000 UTC [9] FATAL:  the database system is starting up',
      '2026-01-01 00:00:00.000 UTC [8] FATAL:  could not extend file: No space left on device',
      '2026-01-01 00:00:00.000 UTC [8] PANIC:  cannot abort transaction 1, it was already committed',
    ];
    expect(firstComplaint(output.join('\n'))).toBe('could not extend file: No space left on device');
  });

  it('is the last line where no reason is marked', () => {
    expect(firstComplaint('one\ntwo\n')).toBe('two');
    expect(firstComplaint('')).toBe('it printed nothing');
  });
});

describe('settings', () => {
  it('follow the memory, within bounds', () => {
    expect(serverSettings(0.25 * GIB)).toMatchObject({
      shared_buffers: '64MB',
      effective_cache_size: '128MB',
      max_wal_size: '2048MB',
    });
    expect(serverSettings(4 * GIB)).toMatchObject({
      shared_buffers: '1024MB',
      effective_cache_size: '2048MB',
      max_wal_size: '4096MB',
    });
    expect(serverSettings(256 * GIB)).toMatchObject({
      shared_buffers: '8192MB',
      maintenance_work_mem: '256MB',
      max_wal_size: '16384MB',
    });
  });

  it('have room for the largest pools that may be configured', () => {
    const { DATABASE_POOL_SIZE, ANALYTICS_POOL_SIZE } = loadConfig({
      DATABASE_POOL_SIZE: '200',
      ANALYTICS_POOL_SIZE: '100',
    });
    const connections = Number(serverSettings(4 * GIB).max_connections);
    expect(connections).toBeGreaterThan(DATABASE_POOL_SIZE + ANALYTICS_POOL_SIZE + 20);
  });

  it('become arguments', () => {
    expect(settingArguments({ fsync: 'off', port: '1' })).toEqual(['-c', 'fsync=off', '-c', 'port=1']);
  });
});
