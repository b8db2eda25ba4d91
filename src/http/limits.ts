// What the service refuses to be overrun by: requests per second and caller.
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';

export async function registerLimits(_app: FastifyInstance, _deps: Deps): Promise<void> {}
