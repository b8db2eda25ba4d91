// One HTTP exchange with one deadline. It uses undici's dispatcher directly: undici's `request` creates a stream, an
// abort signal and their listeners each time, which took a third of the CPU time of a delivery.
import type { Dispatcher } from 'undici';

export interface ExchangeResult {
  /** null if no response came. */
  status: number | null;
  headers: Record<string, string | string[] | undefined>;
  /** The beginning of the body. */
  kept: Buffer;
  /** The error that ended the exchange; undefined if it was complete. */
  failure: unknown;
}

export interface Post {
  url: URL;
  headers: Record<string, string>;
  body: string;
}

export interface ExchangeLimits {
  deadlineMs: number;
  keptBytes: number;
  /** How many bytes of a response body are read before the connection is dropped. */
  maxBytes: number;
}

/** Posts, and reads the response to the end so that the connection can be reused. Never rejects. */
export function exchange(
  agent: Dispatcher,
  { url, headers, body }: Post,
  { deadlineMs, keptBytes, maxBytes }: ExchangeLimits,
): Promise<ExchangeResult> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const result: ExchangeResult = { status: null, headers: {}, kept: Buffer.alloc(0), failure: undefined };
    let controller: Dispatcher.DispatchController | undefined;
    let length = 0;
    let isOver = false;

    function end(failure?: unknown): void {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      resolve({ ...result, kept: Buffer.concat(chunks), failure });
    }

    function abort(failure: Error): void {
      end(failure);
      controller?.abort(failure);
    }

    const timer = setTimeout(() => abort(new Error(`no complete response within ${deadlineMs / 1000} s`)), deadlineMs);
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(given) {
        controller = given;
        // The deadline passed while undici was connecting.
        if (isOver) controller.abort(new Error('too late'));
      },
      onResponseStart(_, status, given) {
        // An informational response; the final one follows.
        if (status < 200) return;
        result.status = status;
        result.headers = given;
      },
      onResponseData(_, chunk) {
        if (length < keptBytes) chunks.push(Buffer.from(chunk.subarray(0, keptBytes - length)));
        length += chunk.length;
        if (length <= maxBytes) return;
        // The status says whether the delivery was accepted. Reading the rest would only keep the connection usable.
        end();
        controller?.abort(new Error(`the response is longer than ${maxBytes} bytes`));
      },
      onResponseEnd: () => end(),
      onResponseError: (_, error) => end(error),
    };
    try {
      agent.dispatch(
        { origin: url.origin, path: `${url.pathname}${url.search}`, method: 'POST', headers, body },
        handler,
      );
    } catch (error) {
      end(error);
    }
  });
}
