// What is said where there is nothing to draw.
import { Notice } from '../parts/notice.tsx';
import { PassingButton } from '../parts/passing-button.tsx';
import type { ChartRecord } from '../service/answers.ts';
import type { ChartView } from '../view/view.ts';

const WORDS: Record<ChartRecord['kind'], string> = {
  flow: 'Nothing happened in these days.',
  stock: 'Nothing was active in these days.',
  ratio: 'The value is zero throughout these days.',
};

export function AllZero({ kind, filters }: Pick<ChartRecord, 'kind'> & Pick<ChartView, 'filters'>) {
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Notice title={WORDS[kind]}>
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
