// The operations' answers, as far as the page reads them (analytics.md 4, decisions.md 7; the catalogue's own schema).
import type { Unit } from '../words/values.ts';

export interface Point {
  x: string;
  y: number;
}

export interface Series {
  title: string;
  type: string;
  value: number;
  values: Point[];
  compare_value: number | null;
  compare_values: Point[] | null;
}

/** One chart on one money basis; the first series is the total. */
export interface Metric {
  unit: Unit;
  value: number;
  value_from: number | null;
  value_to: number | null;
  compare_value: number | null;
  data: Series[];
}

export type Metrics = Record<string, Metric>;

export interface ChartRecord {
  chart_id: string;
  metric_name: string;
  description: string;
  group: string;
  kind: 'flow' | 'stock' | 'ratio';
  unit: Unit;
  segmentations: string[];
  filters: string[];
  /** Whether the chart accepts `filters.compare_date`. */
  compares: boolean;
}

export interface DimensionRecord {
  name: string;
  title: string;
  /** All possible values; null if the dimension is free-form and has whatever values were recorded. */
  values: { value: string; title: string }[] | null;
}

export interface Catalogue {
  charts: ChartRecord[];
  dimensions: DimensionRecord[];
}

export interface FeedDelivery {
  webhook_id: string;
  state: 'pending' | 'delivered' | 'dead';
  attempts: number;
  last_status: number | null;
  next_attempt_at: string | null;
}

export interface FeedEvent {
  event_id: string;
  event_type: string;
  created_at: string;
  payload: Record<string, unknown>;
  deliveries: FeedDelivery[];
}

export interface FeedPage {
  data: FeedEvent[];
  next_cursor: string | null;
}
