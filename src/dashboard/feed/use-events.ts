// Fetches the matching events, newest first: the first page, and more pages on request.
import { useRef, useState } from 'preact/hooks';
import type { FeedEvent } from '../service/answers.ts';
import type { Client } from '../service/client.ts';
import { type Asked, useAnswer } from '../service/use-answer.ts';
import { useService } from '../service/use-service.ts';
import { type FeedView, filtersOf } from '../view/view.ts';

const PAGE_SIZE = 50;

interface Depth {
  filters: string;
  /** How many pages are asked for. */
  pages: number;
}

interface Events extends Depth {
  events: FeedEvent[];
  hasMore: boolean;
}

/** Fetches every page again, so that nothing is missing between two pages. */
async function listPages(client: Client, { filters, pages }: Depth, signal: AbortSignal): Promise<Events> {
  const given = Object.fromEntries(JSON.parse(filters)) as Record<string, string>;
  const events: FeedEvent[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < pages; page++) {
    const query: Record<string, string> = { ...given, limit: String(PAGE_SIZE), ...(cursor !== null && { cursor }) };
    const { data, next_cursor } = await client.listEvents(query, signal);
    events.push(...data);
    cursor = next_cursor;
    if (cursor === null) break;
  }
  return { filters, pages, events, hasMore: cursor !== null };
}

interface Feed extends Asked<Events> {
  /** Whether the events shown were found with other filters. */
  isOutdated: boolean;
  /** Whether asking for older events failed; the events from before are still shown. */
  failedToLoadMore: boolean;
  askMore: () => void;
}

export function useEvents(view: FeedView): Feed {
  const { client } = useService();
  const filters = JSON.stringify(filtersOf(view));
  const [depth, setDepth] = useState<Depth>({ filters, pages: 1 });
  const pages = depth.filters === filters ? depth.pages : 1;
  const asked = useAnswer(`${filters} ${pages}`, (signal) => listPages(client, { filters, pages }, signal));
  const kept = useRef<Events | undefined>(undefined);
  if (asked.answer) kept.current = asked.answer;
  // If asking again with the same filters fails, keep what was found before.
  const answer = asked.answer ?? (kept.current?.filters === filters ? kept.current : undefined);
  return {
    ...asked,
    answer,
    isOutdated: answer !== undefined && answer.filters !== filters,
    failedToLoadMore: asked.failure !== undefined && answer !== undefined && answer.pages < pages,
    askMore: () => setDepth({ filters, pages: pages + 1 }),
  };
}
