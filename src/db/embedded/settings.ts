// The embedded server's settings: a small server on the same machine as the service. Pure.

const MIB = 1024 * 1024;

/**
 * Returns settings for a machine with this much memory. They are given on the command line, so postgresql.conf stays as
 * initdb wrote it.
 */
export function serverSettings(memoryBytes: number): Record<string, string> {
  const memoryMib = Math.floor(memoryBytes / MIB);
  return {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    // The largest pools that the configuration allows (200 and 100), plus those of deliveries and commands.
    max_connections: '330',
    // Everything that requests about any profile read should fit in here, as the kernel may drop its cached file pages
    // at any time. Memory is taken only as it is used.
    shared_buffers: `${clamp(Math.floor(memoryMib / 4), 64, 8192)}MB`,
    effective_cache_size: `${Math.max(Math.floor(memoryMib / 2), 128)}MB`,
    work_mem: '16MB',
    maintenance_work_mem: `${clamp(Math.floor(memoryMib / 32), 64, 256)}MB`,
    // Checkpoints are rare because each page is logged whole when it first changes after one. But redo took 9 s per GB.
    max_wal_size: `${clamp(memoryMib, 2048, 16384)}MB`,
    // The built-in compression took half of a writing server's CPU time. Instead, whole pages are logged less often.
    wal_compression: 'off',
    checkpoint_timeout: '15min',
    random_page_cost: '1.1',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Starts, stops and crashes only: the service logs its own failed statements, which can hold customers' data.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_checkpoints: 'off',
  };
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}

/** Returns the settings as arguments of `postgres`. */
export function settingArguments(settings: Record<string, string>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
