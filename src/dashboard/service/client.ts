// The client for the operations that the page uses, with one key.
import { addDays } from '../view/days.ts';
import { dayOf } from '../words/periods.ts';
import type { Catalogue, FeedPage, Metrics } from './answers.ts';
import { Failure, unexpectedResponse } from './failure.ts';
import { type RequestSpec, request, requestJson } from './request.ts';

const API = 'api/v1/client-api';
const FRESH_MS = 60_000;

export interface ChartQuestion {
  body: object;
  /** IANA name; null means the app's own zone. */
  zone: string | null;
  signal?: AbortSignal;
}

export interface Client {
  askChart: (question: ChartQuestion) => Promise<Metrics>;
  /** Fetches the same chart as a CSV file; calls `onProgress` with the bytes received so far after every chunk. */
  fetchCsv: (question: ChartQuestion, onProgress: (bytes: number) => void) => Promise<CsvFile>;
  listEvents: (query: Record<string, string>, signal: AbortSignal) => Promise<FeedPage>;
  /**
   * Returns the current day in a zone, by the service's clock. Callers share the request; if one aborts before the
   * answer has arrived, the next call sends a new request.
   */
  askToday: (zone: string | null, signal?: AbortSignal) => Promise<string>;
}

interface Today {
  day: Promise<string>;
  isKnown: boolean;
  until: number;
}

export interface CsvFile {
  name: string;
  blob: Blob;
}

async function requestData<T extends { data: unknown }>(spec: RequestSpec): Promise<T> {
  const body = await requestJson<Partial<T>>(spec);
  if (!body.data) throw unexpectedResponse();
  return body as T;
}

export async function askCatalogue(signal?: AbortSignal): Promise<Catalogue> {
  return (await requestData<{ data: Catalogue }>({ path: `${API}/metrics/catalog/`, signal })).data;
}

interface ApiReference {
  paths: Record<string, { get?: { parameters?: { name: string; schema: { enum?: string[] } }[] } }>;
}

/** Returns the event types that the feed can be filtered by, as the API reference lists them. */
export async function askEventTypes(signal: AbortSignal): Promise<string[]> {
  const { paths } = await requestJson<ApiReference>({ path: 'openapi.json', signal });
  const parameters = paths[`/${API}/events/`]?.get?.parameters ?? [];
  return parameters.find(({ name }) => name === 'event_type')?.schema.enum ?? [];
}

async function collect(response: Response, onProgress: (bytes: number) => void): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  const reader = response.body!.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    bytes += part.value.byteLength;
    onProgress(bytes);
  }
  return new Blob(parts, { type: 'text/csv' });
}

export function createClient(key: string): Client {
  const todayByZone = new Map<string | null, Today>();

  const chartRequest = ({ body, zone, signal }: ChartQuestion) => ({
    path: `${API}/metrics/analytics/`,
    key,
    headers: zone === null ? {} : { 'service-tz': zone },
    body,
    signal,
  });

  async function askChart(question: ChartQuestion): Promise<Metrics> {
    return (await requestData<{ data: Metrics }>(chartRequest(question))).data;
  }

  /**
   * Asks for a chart over the days around today. Days that have not begun have no point, so the last day with a point
   * is today. If this computer's clock is a day off and the zone is another, today is two days away from the day here.
   */
  async function findToday(zone: string | null): Promise<string> {
    const utcDay = new Date().toISOString().slice(0, 10);
    const [first, end] = [addDays(utcDay, -2), addDays(utcDay, 3)];
    const filters = { date: [first, end] };
    // Several callers wait for this one answer, so none of them can abort it.
    const metrics = await askChart({ body: { chart_id: 'installs', period_unit: 'day', filters }, zone });
    const last = metrics.common?.data[0]?.values.at(-1);
    const today = last && dayOf(last.x);
    if (today === undefined || today === end) {
      throw new Failure('broken', 'The clocks of this computer and the service differ by more than a day.');
    }
    return today;
  }

  function forget(zone: string | null, today: Today): void {
    if (todayByZone.get(zone) === today) todayByZone.delete(zone);
  }

  function cacheToday(zone: string | null): Today {
    const today: Today = { day: findToday(zone), isKnown: false, until: Date.now() + FRESH_MS };
    todayByZone.set(zone, today);
    today.day.then(
      () => {
        today.isKnown = true;
      },
      () => forget(zone, today),
    );
    return today;
  }

  return {
    askChart,
    async fetchCsv(question, onProgress) {
      const response = await request(chartRequest({ ...question, body: { ...question.body, format: 'csv' } }));
      const name = /filename="?([^";]+)/.exec(response.headers.get('content-disposition') ?? '')?.[1];
      return { name: name ?? 'chart.csv', blob: await collect(response, onProgress) };
    },
    listEvents: (query, signal) => requestData({ path: `${API}/events/?${new URLSearchParams(query)}`, key, signal }),
    askToday(zone, signal) {
      const asked = todayByZone.get(zone);
      const today = asked && Date.now() < asked.until ? asked : cacheToday(zone);
      signal?.addEventListener('abort', () => {
        if (!today.isKnown) forget(zone, today);
      });
      return today.day;
    },
  };
}
