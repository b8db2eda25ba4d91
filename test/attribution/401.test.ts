// Attributions need a public key of the app (interface 5).
import { describe } from 'vitest';
import { keyContract } from '../http/key-contract.ts';
import { ATTRIBUTION } from './world.ts';

describe('add attribution', () => {
  keyContract({
    method: 'POST',
    path: ATTRIBUTION,
    kind: 'public',
    body: { status: 'organic', customer_user_id: 'x' },
  });
});
