// Choosing the values of filters: those seen in the chart's days, or typed. All dimensions are applied at once.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Select } from '../parts/select.tsx';
import type { ChartRecord } from '../service/answers.ts';
import { dimensionTitle, useService } from '../service/use-service.ts';
import type { ChartView } from '../view/view.ts';
import { ValueChoice } from './value-choice.tsx';

interface FilterDialogProps {
  chart: ChartRecord;
  view: ChartView;
  /** The dimension that is chosen first. */
  first: string;
  /** Has the dimensions that were changed; one without values is removed. */
  onApply: (filters: ChartView['filters']) => void;
  onClose: () => void;
}

export function FilterDialog({ chart, view, first, onApply, onClose }: FilterDialogProps) {
  const { catalogue } = useService();
  const dialog = useRef<HTMLDialogElement>(null);
  const [name, setName] = useState(first);
  const [draft, setDraft] = useState<ChartView['filters']>({});
  /** The value that is typed, where it is neither taken yet nor was a search. */
  const meant = useRef<string | undefined>(undefined);
  const values = draft[name] ?? view.filters[name] ?? [];

  function withMeant(): ChartView['filters'] {
    const value = meant.current;
    return value === undefined || values.includes(value) ? draft : { ...draft, [name]: [...values, value] };
  }

  // Before the next key: an effect after painting would let an Escape pass that follows at once.
  useLayoutEffect(() => dialog.current?.showModal(), []);

  return (
    <dialog ref={dialog} class="filter-dialog" aria-labelledby="filter-title" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          // Only one that is closed gives the focus back.
          dialog.current?.close();
          onApply(withMeant());
        }}
      >
        <h2 id="filter-title">Filter</h2>
        <Select
          label="Dimension"
          value={name}
          options={chart.filters.map((value) => ({ value, title: dimensionTitle(catalogue, value) }))}
          onChange={(next) => {
            setDraft(withMeant());
            setName(next);
          }}
        />
        <ValueChoice
          key={name}
          chart={chart}
          view={view}
          name={name}
          values={values}
          onChange={(chosen) => setDraft({ ...draft, [name]: chosen })}
          onMeant={(value) => {
            meant.current = value;
          }}
        />
        <div class="dialog-buttons">
          <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Apply
          </button>
        </div>
      </form>
    </dialog>
  );
}
