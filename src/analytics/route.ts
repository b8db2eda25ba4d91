// The operation "Retrieve analytics data" (interface 4.2).
import { Readable } from 'node:stream';
import type { Deps } from '../deps.ts';
import { disconnectSignal } from '../http/disconnect.ts';
import { JSON_TYPE } from '../http/json-type.ts';
import { operation } from '../http/operation.ts';
import { findServiceHeader } from '../http/service-headers.ts';
import { inTurns } from '../lib/slices.ts';
import { CSV_WORDS, csvChunks, csvFileName } from './csv.ts';
import { ChartBody, ChartHeaders, ChartResponse } from './schema.ts';
import { createChartAnswers } from './service.ts';

const CHART_BODY_LIMIT = 1024 * 1024;
/** Few bodies are larger. */
const SMALL_BODY = 64 * 1024;

export function retrieveAnalyticsRoute(deps: Deps) {
  const charts = createChartAnswers(deps);
  return operation({
    summary: 'Retrieve analytics data',
    description: 'Returns a chart, filtered and segmented. docs/charts.md says what each chart accepts.',
    headers: ChartHeaders,
    body: ChartBody,
    validatesBody: true,
    compressed: true,
    csv: CSV_WORDS,
    bodyLimit: CHART_BODY_LIMIT,
    responses: { 200: ChartResponse },
    errors: [],
    async handle({ app, body, request, reply }) {
      const zoneHeader = findServiceHeader(request.raw, deps.config.HEADER_ALIASES, 'tz');
      const isSmall = Number(request.headers['content-length']) <= SMALL_BODY;
      const chartRequest = { body, isSmall, zoneHeader, appZone: app.timezone, now: deps.now() };
      const answer = await charts.answer(app, chartRequest, disconnectSignal(reply));
      if ('json' in answer) return reply.type(JSON_TYPE).send(answer.json);
      const { query, series, storeTitles } = answer;
      reply.type('text/csv; charset=utf-8');
      reply.header('content-disposition', `attachment; filename="${csvFileName(query)}"`);
      return reply.send(Readable.from(inTurns(csvChunks(query, series, storeTitles))));
    },
  });
}
