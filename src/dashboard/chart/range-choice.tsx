// A choice between named ranges and two dates.
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { type Option, Select } from '../parts/select.tsx';
import { toOneLine } from '../service/failure.ts';
import { useService } from '../service/use-service.ts';
import { type DayRange, isDay } from '../view/days.ts';
import { useProblem } from './use-problem.ts';

interface Ends {
  first: string;
  last: string;
}

interface RangeChoiceProps<T extends string> {
  label: string;
  /** The labels of the two dates. */
  ends: Ends;
  value: T | DayRange;
  options: readonly (Option & { value: T })[];
  /** The question asked about the chart, including this range. */
  question: string;
  /** Returns the initial values of the two dates. */
  suggested: () => Promise<DayRange>;
  onChange: (value: T | DayRange) => void;
}

const CUSTOM = 'dates';
const ENDS = ['first', 'last'] as const;
/** While 2025 is being typed, the year is first 0002 and then 0020. Nothing is asked for such years. */
const EARLIEST = '1970-01-01';

function isValidDay(day: string): boolean {
  return isDay(day) && day >= EARLIEST;
}

interface DatesProps {
  label: string;
  ends: Ends;
  range: DayRange;
  onChange: (range: DayRange) => void;
}

function Dates({ label, ends, range, onChange }: DatesProps) {
  const [draft, setDraft] = useState(range);
  const [isTyping, setTyping] = useState(false);
  const problemId = useId();
  useEffect(() => setDraft(range), [range.first, range.last]);
  // The year may be unfinished, so no problem is reported until the user leaves its field.
  const invalid = ENDS.filter((end) => !isValidDay(draft[end]) && !(isTyping && draft[end] !== ''));
  const isReversed = ENDS.every((end) => isValidDay(draft[end])) && draft.first > draft.last;
  const problem = isReversed
    ? 'The first day must not be after the last.'
    : invalid.map((end) => `${ends[end]}: enter a date in 1970 or later.`).join(' ');
  function change(part: Partial<DayRange>) {
    const next = { ...draft, ...part };
    setDraft(next);
    setTyping(true);
    if (isValidDay(next.first) && isValidDay(next.last) && next.first <= next.last) onChange(next);
  }
  return (
    <fieldset class="dates">
      <legend class="unseen">{label}</legend>
      {ENDS.map((end) => (
        <label class="field" key={end}>
          <span class="field-label">{ends[end]}</span>
          <input
            type="date"
            value={draft[end]}
            aria-invalid={isReversed || invalid.includes(end)}
            aria-describedby={problem ? problemId : undefined}
            onChange={(event) => change({ [end]: event.currentTarget.value })}
            onBlur={() => setTyping(false)}
          />
        </label>
      ))}
      {problem && (
        <p id={problemId} class="hint" role="alert">
          {problem}
        </p>
      )}
    </fieldset>
  );
}

export function RangeChoice<T extends string>(props: RangeChoiceProps<T>) {
  const { label, ends, value, options, question, suggested, onChange } = props;
  const chosen = typeof value === 'string' ? value : CUSTOM;
  const { handleFailure } = useService();
  const [problem, setProblem] = useProblem(question);
  const choices = useRef(0);
  // After this component has been unmounted, a pending choice no longer counts.
  useEffect(() => () => void choices.current++, []);
  async function choose(next: string) {
    const choice = ++choices.current;
    setProblem('');
    try {
      const range = next === CUSTOM ? await suggested() : (next as T);
      if (choice === choices.current) onChange(range);
    } catch (error) {
      const failure = handleFailure(error);
      if (choice === choices.current) setProblem(toOneLine(failure));
    }
  }
  return (
    <>
      <Select
        label={label}
        value={chosen}
        options={[...options, { value: CUSTOM, title: 'Custom range…' }]}
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
