// The active filters, to change or to remove; a button to add one; and what does not apply to this chart, to remove.
import { useRef, useState } from 'preact/hooks';
import type { ChartRecord } from '../service/answers.ts';
import type { Unapplied } from '../view/unapplied.ts';
import { type ChartView, changeView } from '../view/view.ts';
import { Chip } from './chip.tsx';
import { FilterChip } from './filter-chip.tsx';
import { FilterDialog } from './filter-dialog.tsx';
import { questionOf } from './question.ts';

interface FiltersProps {
  chart: ChartRecord;
  view: ChartView;
  /** The parts of the address that this chart does not support. */
  unapplied: readonly Unapplied[];
  onChange: (part: Partial<ChartView>) => void;
}

export function Filters({ chart, view, unapplied, onChange }: FiltersProps) {
  const [edited, setEdited] = useState<string | null>(null);
  const addButton = useRef<HTMLButtonElement>(null);

  function apply(filters: ChartView['filters']) {
    // If the question stays the same, so do the chosen series.
    if (questionOf(changeView(view, { filters })) !== questionOf(view)) onChange({ filters, series: null });
    setEdited(null);
    // The filter that had the focus may be gone.
    if (Object.values(filters).some((values) => values.length === 0)) addButton.current?.focus();
  }

  function remove(removal: Partial<ChartView>) {
    onChange(removal);
    addButton.current?.focus();
  }

  return (
    <div class="filters">
      {Object.keys(view.filters).map((name) => (
        <FilterChip
          key={name}
          chart={chart}
          view={view}
          name={name}
          onEdit={() => setEdited(name)}
          onRemove={() => apply({ [name]: [] })}
        />
      ))}
      <button ref={addButton} type="button" class="quiet" onClick={() => setEdited(chart.filters[0] ?? null)}>
        + Filter
      </button>
      {unapplied.length > 0 && <span class="muted">Not applied here:</span>}
      {unapplied.map(({ title, removal }) => (
        <Chip key={title} name={title} onRemove={() => remove(removal)}>
          <span class="chip-title muted">{title}</span>
        </Chip>
      ))}
      {edited !== null && (
        <FilterDialog chart={chart} view={view} first={edited} onApply={apply} onClose={() => setEdited(null)} />
      )}
    </div>
  );
}
