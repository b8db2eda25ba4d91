// The filters that hold, each a way to change it, and adding one.
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Catalogue, ChartRecord } from '../service/answers.ts';
import { dimensionTitle, useService } from '../service/use-service.ts';
import type { ChartView } from '../view/view.ts';
import { FilterDialog } from './filter-dialog.tsx';

interface FiltersProps {
  chart: ChartRecord;
  view: ChartView;
  onChange: (part: Partial<ChartView>) => void;
  /** What is said beside them. */
  children: ComponentChildren;
}

function valueTitle({ dimensions }: Catalogue, name: string, value: string): string {
  const known = dimensions.find((dimension) => dimension.name === name)?.values?.find((one) => one.value === value);
  return known?.title ?? (value === '' ? 'no value' : value);
}

export function Filters({ chart, view, onChange, children }: FiltersProps) {
  const { catalogue } = useService();
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
      {Object.entries(view.filters).map(([name, values]) => {
        const title = dimensionTitle(catalogue, name);
        return (
          <span class="chip" key={name}>
            <button type="button" onClick={() => setEdited(name)}>
              <span class="muted">{title}:</span> {values.map((value) => valueTitle(catalogue, name, value)).join(', ')}
            </button>
            <button
              type="button"
              aria-label={`Remove filter ${title}`}
              onClick={() => set({ ...view.filters, [name]: [] })}
            >
              ×
            </button>
          </span>
        );
      })}
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
