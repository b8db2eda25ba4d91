// The filters that hold, each a way to change it, and adding one.
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { ChartRecord } from '../service/answers.ts';
import type { ChartView } from '../view/view.ts';
import { FilterChip } from './filter-chip.tsx';
import { FilterDialog } from './filter-dialog.tsx';

interface FiltersProps {
  chart: ChartRecord;
  view: ChartView;
  onChange: (part: Partial<ChartView>) => void;
  /** What is said beside them. */
  children: ComponentChildren;
}

export function Filters({ chart, view, onChange, children }: FiltersProps) {
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
      {children}
      {edited !== null && (
        <FilterDialog chart={chart} view={view} first={edited} onApply={set} onClose={() => setEdited(null)} />
      )}
    </div>
  );
}
