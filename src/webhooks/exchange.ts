// One HTTP exchange under one deadline, on undici's dispatcher itself: its `request` makes a stream, an abort signal and their
// listeners for every delivery, which was a third of the processor time of a delivery.
import type { Dispatcher } from 'undici';

export interface Answered {
  /** null if no answer came. */
  status: number | null;
  headers: Record<string, string | string[] | undefined>;
  /** The beginning of the body. */
  kept: Buffer;
  /** What broke the exchange off; undefined after a complete one. */
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
  /** How much of an answer is read before its connection is given up. */
  longestBytes: number;
}

/** Posts and reads the answer to the end, so that the connection can be used again. Never rejects. */
export function exchange(
  agent: Dispatcher,
  { url, headers, body }: Post,
  { deadlineMs, keptBytes, longestBytes }: ExchangeLimits,
): Promise<Answered> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const answered: Answered = { status: null, headers: {}, kept: Buffer.alloc(0), failure: undefined };
    let controller: Dispatcher.DispatchController | undefined;
    let length = 0;
    let isOver = false;

    function end(failure?: unknown): void {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      resolve({ ...answered, kept: Buffer.concat(chunks), failure });
    }

    function breakOff(failure: Error): void {
      end(failure);
      controller?.abort(failure);
    }

    const timer = setTimeout(() => breakOff(new Error(`no complete answer within ${deadlineMs / 1000} s`)), deadlineMs);
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(given) {
        controller = given;
        // The deadline passed while it was connecting.
        if (isOver) controller.abort(new Error('too late'));
      },
      onResponseStart(_, status, given) {
        // It announces the answer, and is none.
        if (status < 200) return;
        answered.status = status;
        answered.headers = given;
      },
      onResponseData(_, chunk) {
        if (length < keptBytes) chunks.push(Buffer.from(chunk.subarray(0, keptBytes - length)));
        length += chunk.length;
        if (length <= longestBytes) return;
        // The status has said whether it was taken; the rest would only keep the connection usable.
        end();
        controller?.abort(new Error(`the answer is longer than ${longestBytes} bytes`));
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
