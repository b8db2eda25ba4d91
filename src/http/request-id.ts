// The id of a request: in the answer's Request-Id header and in its log line.
import { randomUUID } from 'node:crypto';

/** 32 hex digits. */
export function newRequestId(): string {
  return randomUUID().replaceAll('-', '');
}
