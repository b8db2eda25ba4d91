// The dialog for filter values: those seen in the chart's days, or typed ones. Applies all dimensions together.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Select } from '../parts/select.tsx';
import type { ChartRecord } from '../service/answers.ts';
import { dimensionTitle, useService } from '../service/use-service.ts';
import type { ChartView } from '../view/view.ts';
import { ValueChoice } from './value-choice.tsx';

interface FilterDialogProps {
  chart: ChartRecord;
  view: ChartView;
  /** The dimension that is selected at first. */
  first: string;
  /** Receives the dimensions that were changed; the filter of one without values is removed. */
  onApply: (filters: ChartView['filters']) => void;
  onClose: () => void;
}

export function FilterDialog({ chart, view, first, onApply, onClose }: FilterDialogProps) {
  const { catalogue } = useService();
  const dialog = useRef<HTMLDialogElement>(null);
  const [name, setName] = useState(first);
  const [draft, setDraft] = useState<ChartView['filters']>({});
  /** The value that was typed, unless it has been added already or was only a search. */
  const typedValue = useRef<string | undefined>(undefined);
  const values = draft[name] ?? view.filters[name] ?? [];

  function withTypedValue(): ChartView['filters'] {
    const value = typedValue.current;
    return value === undefined || values.includes(value) ? draft : { ...draft, [name]: [...values, value] };
  }

  // Before the next key press: an effect after paint would miss an Escape that follows immediately.
  useLayoutEffect(() => dialog.current?.showModal(), []);

  return (
    <dialog ref={dialog} aria-labelledby="filter-title" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          // A dialog gives the focus back only if it is closed, not if it is just removed.
          dialog.current?.close();
          onApply(withTypedValue());
        }}
      >
        <h2 id="filter-title">Filter</h2>
        <Select
          label="Dimension"
          value={name}
          options={chart.filters.map((value) => ({ value, title: dimensionTitle(catalogue, value) }))}
          onChange={(next) => {
            setDraft(withTypedValue());
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
          onTypedValue={(value) => {
            typedValue.current = value;
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
