// An active filter: the titles of its values, a button to change it and one to remove it.
import { Fragment } from 'preact';
import type { ChartRecord } from '../service/answers.ts';
import { useAnswer } from '../service/use-answer.ts';
import { dimensionTitle, useService } from '../service/use-service.ts';
import type { ChartView } from '../view/view.ts';
import { Chip } from './chip.tsx';
import { withTitle } from './filter-values.ts';
import { listTitledValues } from './list-values.ts';

interface FilterChipProps {
  chart: ChartRecord;
  view: ChartView;
  /** The dimension. */
  name: string;
  onEdit: () => void;
  onRemove: () => void;
}

export function FilterChip({ chart, view, name, onEdit, onRemove }: FilterChipProps) {
  const service = useService();
  const { answer = [] } = useAnswer(JSON.stringify([name, view.range]), (signal) =>
    listTitledValues(service, { chart, view, name }, signal),
  );
  const title = dimensionTitle(service.catalogue, name);
  const titles = view.filters[name]?.map((value) => withTitle(value, answer).title) ?? [];
  return (
    <Chip name={`filter ${title}`} onRemove={onRemove}>
      <button type="button" title={titles.join(', ')} onClick={onEdit}>
        <span class="muted">{title}:</span>{' '}
        {titles.map((one, i) => (
          // Isolated, so that a right-to-left name does not reorder its neighbours.
          <Fragment key={one}>
            {i > 0 && ', '}
            <bdi>{one}</bdi>
          </Fragment>
        ))}
      </button>
    </Chip>
  );
}
