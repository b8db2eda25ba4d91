// A count with its noun, for messages.

/** `counted(1, 'fact waits', 'facts wait')` is "1 fact waits". */
export function counted(count: number | bigint, one: string, many: string): string {
  return `${count} ${Number(count) === 1 ? one : many}`;
}
