// A request's logger, which adds the request id to its lines. The pino child is created on first use: nearly all
// requests log only the line of request-log.ts, and creating a child costs as much as writing a line.
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

class RequestLogger {
  readonly #shared: FastifyBaseLogger;
  readonly #bindings: object;
  #own: FastifyBaseLogger | undefined;

  constructor(shared: FastifyBaseLogger, bindings: object) {
    this.#shared = shared;
    this.#bindings = bindings;
  }

  get own(): FastifyBaseLogger {
    this.#own ??= this.#shared.child(this.#bindings);
    return this.#own;
  }

  get level(): string {
    return this.#shared.level;
  }

  child(...parts: Parameters<FastifyBaseLogger['child']>): FastifyBaseLogger {
    return this.own.child(...parts);
  }
}

for (const level of LEVELS) {
  Object.defineProperty(RequestLogger.prototype, level, {
    value(this: RequestLogger, ...parts: [object, ...string[]]) {
      this.own[level](...parts);
    },
  });
}

export function registerRequestLogger(app: FastifyInstance): void {
  app.setChildLoggerFactory((shared, bindings) => new RequestLogger(shared, bindings) as unknown as FastifyBaseLogger);
}
