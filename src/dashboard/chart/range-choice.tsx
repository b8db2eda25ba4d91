// A choice among named ranges, or two dates.
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Option, Select } from '../parts/select.tsx';
import { useService } from '../service/use-service.ts';
import { type DayRange, isDay } from '../view/days.ts';

interface Ends {
  first: string;
  last: string;
}

interface RangeChoiceProps<T extends string> {
  label: string;
  /** What the two dates are called. */
  ends: Ends;
  value: T | DayRange;
  options: readonly (Option & { value: T })[];
  /** What the two dates are at first. */
  suggested: () => Promise<DayRange>;
  onChange: (value: T | DayRange) => void;
}

const OWN = 'dates';
/** A year that is being typed is 0002 and 0020 before it is 2025: nothing is asked for those. */
const EARLIEST = '1970-01-01';

interface DatesProps {
  label: string;
  ends: Ends;
  range: DayRange;
  onChange: (range: DayRange) => void;
}

function Dates({ label, ends, range, onChange }: DatesProps) {
  const [draft, setDraft] = useState(range);
  useEffect(() => setDraft(range), [range.first, range.last]);
  const isReversed = draft.first !== '' && draft.last !== '' && draft.first > draft.last;
  function change(part: Partial<DayRange>) {
    const next = { ...draft, ...part };
    setDraft(next);
    if (isDay(next.first) && isDay(next.last) && next.first >= EARLIEST && next.first <= next.last) onChange(next);
  }
  return (
    <fieldset class="dates">
      <legend class="unseen">{label}</legend>
      <label class="field">
        <span class="field-label">{ends.first}</span>
        <input type="date" value={draft.first} onChange={(event) => change({ first: event.currentTarget.value })} />
      </label>
      <label class="field">
        <span class="field-label">{ends.last}</span>
        <input type="date" value={draft.last} onChange={(event) => change({ last: event.currentTarget.value })} />
      </label>
      {isReversed && (
        <p class="hint" role="alert">
          The first day must not be after the last.
        </p>
      )}
    </fieldset>
  );
}

export function RangeChoice<T extends string>(props: RangeChoiceProps<T>) {
  const { label, ends, value, options, suggested, onChange } = props;
  const chosen = typeof value === 'string' ? value : OWN;
  const { takeFailure } = useService();
  const [problem, setProblem] = useState('');
  const choices = useRef(0);
  // Of a part that is gone nothing is chosen any more.
  useEffect(() => () => void choices.current++, []);
  async function choose(next: string) {
    const choice = ++choices.current;
    setProblem('');
    try {
      const range = next === OWN ? await suggested() : (next as T);
      if (choice === choices.current) onChange(range);
    } catch (error) {
      const { message } = takeFailure(error);
      if (choice === choices.current) setProblem(message);
    }
  }
  return (
    <>
      <Select
        label={label}
        value={chosen}
        options={[...options, { value: OWN, title: 'Custom range…' }]}
        onChange={choose}
      />
      {problem && (
        <p class="hint" role="alert">
          {problem}
        </p>
      )}
      {typeof value !== 'string' && <Dates label={label} ends={ends} range={value} onChange={onChange} />}
    </>
  );
}
