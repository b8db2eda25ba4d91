// What is said where there is nothing to draw.
import { Notice } from '../parts/notice.tsx';
import { PassingButton } from '../parts/passing-button.tsx';
import type { ChartRecord } from '../service/answers.ts';
import type { ChartAnswer } from './question.ts';

const WORDS: Record<ChartRecord['kind'], string> = {
  flow: 'Nothing happened in these days.',
  stock: 'Nothing was active in these days.',
  ratio: 'The value is zero throughout these days.',
};

export function AllZero({ kind, answer }: Pick<ChartRecord, 'kind'> & { answer: ChartAnswer }) {
  const { range, today, view } = answer;
  const hasBegun = range.first <= today;
  const isFiltered = hasBegun && Object.keys(view.filters).length > 0;
  return (
    <Notice title={hasBegun ? WORDS[kind] : 'These days have not begun.'}>
      <p class="muted">Choose other days{isFiltered && ' or fewer filters'}.</p>
    </Notice>
  );
}

export function NoSeries({ onReset }: { onReset: () => void }) {
  return (
    <Notice title="No series is switched on.">
      <PassingButton onClick={onReset}>Show the usual ones</PassingButton>
    </Notice>
  );
}
