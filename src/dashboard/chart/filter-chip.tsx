// A filter that holds: its values by their titles, a way to change it and one to remove it.
import type { ChartRecord } from '../service/answers.ts';
import { useAnswer } from '../service/use-answer.ts';
import { dimensionTitle, useService } from '../service/use-service.ts';
import type { ChartView } from '../view/view.ts';
import { Chip } from './chip.tsx';
import { entitle } from './filter-values.ts';
import { listTitled } from './list-values.ts';

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
    listTitled(service, { chart, view, name }, signal),
  );
  const title = dimensionTitle(service.catalogue, name);
  const values = view.filters[name]?.map((value) => entitle(value, answer).title).join(', ') ?? '';
  return (
    <Chip name={`filter ${title}`} onRemove={onRemove}>
      <button type="button" title={values} onClick={onEdit}>
        <span class="muted">{title}:</span> {values}
      </button>
    </Chip>
  );
}
