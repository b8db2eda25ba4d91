// A bad request for a chart, and what the service must say about it (analytics.md 3, decisions.md 1).
import { expect } from 'vitest';
import type { TestService } from '../setup/service.ts';
import { askChart } from './import.ts';

export const DATE = ['2025-01-01', '2025-03-31'];

export interface Bad {
  name: string;
  /** The whole body of the request; `inFilters` adds a valid `date`. */
  body: unknown;
  headers?: Record<string, string>;
  source: string;
  code: string;
  /** A text that the message must contain. */
  says?: string;
}

export const inFilters = (filters: object, members: object = {}) => ({
  filters: { date: DATE, ...filters },
  ...members,
});

export async function expectRefusal(service: TestService, { body, headers, source, code, says }: Bad): Promise<void> {
  const { status, json } = await askChart(service, body, headers);
  expect(status).toBe(400);
  expect(json.errors.map((one: { source: string }) => one.source)).toEqual([source]);
  expect(json).toMatchObject({ error_code: code, status_code: 400 });
  if (says !== undefined) expect(json.errors[0].errors[0]).toContain(says);
}
