// Retrieving analytics data without the right key.
import { keyContract } from '../http/key-contract.ts';
import { CHARTS_PATH } from './import.ts';

keyContract({
  method: 'POST',
  path: CHARTS_PATH,
  kind: 'secret',
  isForCharts: true,
  body: { filters: { date: ['2025-01-01'] } },
});
