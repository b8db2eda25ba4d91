// The logger of a request, whose lines carry its id. It is made when it is first written to: nearly all requests have no line but
// that of request-log.ts, and making one of pino's children costs as much as a line.
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

class RequestLogger {
  readonly #shared: FastifyBaseLogger;
  readonly #bindings: object;
  #made: FastifyBaseLogger | undefined;

  constructor(shared: FastifyBaseLogger, bindings: object) {
    this.#shared = shared;
    this.#bindings = bindings;
  }

  get own(): FastifyBaseLogger {
    this.#made ??= this.#shared.child(this.#bindings);
    return this.#made;
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
