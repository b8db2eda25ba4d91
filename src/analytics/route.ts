// Retrieve analytics data (interface 4.2).
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Deps } from '../deps.ts';
import { operation } from '../http/operation.ts';
import { csvChunks, csvFileName } from './csv.ts';
import { questionKey } from './kept-answers.ts';
import { readChartRequest } from './request.ts';
import { ChartAnswer, ChartBody, ChartHeaders } from './schema.ts';
import { createChartAnswers, plotChart } from './service.ts';

const BODY_LIMIT = 1024 * 1024;
const JSON_TYPE = 'application/json; charset=utf-8';

export function retrieveAnalytics(deps: Deps) {
  const answers = createChartAnswers(deps);
  return operation({
    summary: 'Retrieve analytics data',
    description: 'A chart with filters and segmentation. What each chart takes: docs/charts.md.',
    headers: ChartHeaders,
    body: ChartBody,
    judgesBody: true,
    compressed: true,
    csv: true,
    bodyLimit: BODY_LIMIT,
    answers: { 200: ChartAnswer },
    errors: [],
    async handle({ app, body, request, reply }) {
      const zoneHeader = findZoneHeader(request.headers, deps.config.HEADER_ALIASES);
      const asked = { body, zoneHeader, appZone: app.timezone, now: deps.now() };
      const key = questionKey(app, asked);
      const departure = departureOf(reply);
      const kept = await answers.find(app, key, asked.now);
      if (kept) return reply.type(JSON_TYPE).send(kept);
      const query = readChartRequest(asked);
      // The time-out of the pool bounds each of its statements alone.
      const signal = AbortSignal.any([departure, AbortSignal.timeout(deps.config.ANALYTICS_TIMEOUT_MS)]);
      if (query.format === 'json') {
        return reply.type(JSON_TYPE).send(await answers.compute(app, { key, query, signal }));
      }
      const { series, storeTitles } = await plotChart(deps, app, query, signal);
      reply.type('text/csv; charset=utf-8');
      reply.header('content-disposition', `attachment; filename="${csvFileName(query)}"`);
      return reply.send(Readable.from(csvChunks(query, series, storeTitles)));
    },
  });
}

/** The first header that names a zone: `service-tz`, then the aliases; blank is absent. */
function findZoneHeader(headers: IncomingHttpHeaders, aliases: readonly string[]) {
  for (const name of ['service', ...aliases].map((prefix) => `${prefix}-tz`)) {
    const value = String(headers[name] ?? '').trim();
    if (value !== '') return { name, value };
  }
  return undefined;
}

/** Aborts when the client goes before it has its answer. Asked for before anything is waited for: who has gone cannot go again. */
function departureOf({ raw }: FastifyReply): AbortSignal {
  const leaving = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) leaving.abort();
  });
  return leaving.signal;
}
