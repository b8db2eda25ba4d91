// The filters that hold, each a way to change it, and adding one; and what does not hold, to be removed.
import { useRef, useState } from 'preact/hooks';
import type { ChartRecord } from '../service/answers.ts';
import type { Unapplied } from '../view/unapplied.ts';
import type { ChartView } from '../view/view.ts';
import { Chip } from './chip.tsx';
import { FilterChip } from './filter-chip.tsx';
import { FilterDialog } from './filter-dialog.tsx';

interface FiltersProps {
  chart: ChartRecord;
  view: ChartView;
  /** What the address has beside, and this chart does not take. */
  unapplied: readonly Unapplied[];
  onChange: (part: Partial<ChartView>) => void;
  onRemove: (one: Unapplied) => void;
}

export function Filters({ chart, view, unapplied, onChange, onRemove }: FiltersProps) {
  const [edited, setEdited] = useState<string | null>(null);
  const adding = useRef<HTMLButtonElement>(null);

  function set(filters: ChartView['filters']) {
    const given = Object.entries(filters).filter(([, values]) => values.length > 0);
    onChange({ filters: Object.fromEntries(given), series: null });
    setEdited(null);
    // The filter that had the focus may be gone.
    if (Object.keys(view.filters).some((name) => !filters[name]?.length)) adding.current?.focus();
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
          onRemove={() => set({ ...view.filters, [name]: [] })}
        />
      ))}
      <button ref={adding} type="button" class="quiet" onClick={() => setEdited(chart.filters[0] ?? null)}>
        + Filter
      </button>
      {unapplied.length > 0 && <span class="muted">Not applied here:</span>}
      {unapplied.map((one) => (
        <Chip
          key={one.title}
          name={one.title}
          onRemove={() => {
            onRemove(one);
            adding.current?.focus();
          }}
        >
          <span class="chip-title muted">{one.title}</span>
        </Chip>
      ))}
      {edited !== null && (
        <FilterDialog chart={chart} view={view} first={edited} onApply={set} onClose={() => setEdited(null)} />
      )}
    </div>
  );
}
