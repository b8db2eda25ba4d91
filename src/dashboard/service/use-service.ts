// The client and the catalogue, for every part of the signed-in page.
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Catalogue, ChartRecord } from './answers.ts';
import type { Client } from './client.ts';
import type { Failure } from './failure.ts';

export interface Service {
  client: Client;
  catalogue: Catalogue;
  /** Converts an error into a Failure, and signs the page out if its key was refused. */
  handleFailure: (error: unknown) => Failure;
}

export const ServiceContext = createContext<Service | null>(null);

export function useService(): Service {
  const service = useContext(ServiceContext);
  if (!service) throw new Error('useService was called outside the signed-in page');
  return service;
}

export function findChart({ charts }: Catalogue, chartId: string): ChartRecord | undefined {
  return charts.find(({ chart_id }) => chart_id === chartId);
}

export function dimensionTitle({ dimensions }: Catalogue, name: string): string {
  return dimensions.find((dimension) => dimension.name === name)?.title ?? name;
}
