// The events that match, newest first: the first page, and more of them when asked.
import { useState } from 'preact/hooks';
import type { FeedEvent } from '../service/answers.ts';
import type { Client } from '../service/client.ts';
import { type Asked, useAnswer } from '../service/use-answer.ts';
import { useService } from '../service/use-service.ts';
import type { FeedView } from '../view/view.ts';

const PAGE_SIZE = 50;

interface Events {
  /** The filters and how many pages of them. */
  pages: number;
  events: FeedEvent[];
  hasMore: boolean;
}

interface Depth {
  filters: string;
  pages: number;
}

/** Asks page after page anew, so that nothing is missing between two pages. */
async function listPages(
  client: Client,
  { filters, pages }: { filters: Record<string, string>; pages: number },
  signal: AbortSignal,
): Promise<Events> {
  const events: FeedEvent[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < pages; page++) {
    const query: Record<string, string> = { ...filters, limit: String(PAGE_SIZE), ...(cursor !== null && { cursor }) };
    const { data, next_cursor } = await client.listEvents(query, signal);
    events.push(...data);
    cursor = next_cursor;
    if (cursor === null) break;
  }
  return { pages, events, hasMore: cursor !== null };
}

export function useEvents({ page: _, ...members }: FeedView): Asked<Events> & { askMore: () => void } {
  const { client } = useService();
  const given = Object.entries(members).filter((entry): entry is [string, string] => entry[1] !== null);
  const filters = JSON.stringify(given);
  const [depth, setDepth] = useState<Depth>({ filters, pages: 1 });
  const pages = depth.filters === filters ? depth.pages : 1;
  const asked = useAnswer(`${filters} ${pages}`, (signal) =>
    listPages(client, { filters: Object.fromEntries(given), pages }, signal),
  );
  return { ...asked, askMore: () => setDepth({ filters, pages: pages + 1 }) };
}
