// The profile operations need a secret key of the app (interface 5).
import { describe } from 'vitest';
import { keyContract } from '../http/key-contract.ts';
import { PROFILE } from './world.ts';

// Run concurrently, because each waits until a revoked key is forgotten.
describe.concurrent.each(['POST', 'GET', 'PATCH', 'DELETE'])('%s', (method) => {
  const hasBody = method === 'POST' || method === 'PATCH';
  keyContract({ method, path: PROFILE, kind: 'secret', ...(hasBody && { body: {} }) });
});
