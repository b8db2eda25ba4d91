// Grants need a secret key of the app (interface 5).
import { describe } from 'vitest';
import { keyContract } from '../http/key-contract.ts';
import { GRANT } from './world.ts';

describe('grant access level', () => {
  keyContract({ method: 'POST', path: GRANT, kind: 'secret', body: { access_level_id: 'premium' } });
});
