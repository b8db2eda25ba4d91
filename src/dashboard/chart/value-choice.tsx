// The values of one dimension as a searchable list of checkboxes. A value that is not in the list can be added.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { FailureNotice } from '../parts/notice.tsx';
import { Status } from '../parts/status.tsx';
import { Waiting } from '../parts/waiting.tsx';
import type { ChartRecord } from '../service/answers.ts';
import { useAnswer } from '../service/use-answer.ts';
import { dimensionTitle, useService } from '../service/use-service.ts';
import type { ChartView } from '../view/view.ts';
import {
  canBeAdded,
  findNamed,
  findTypedValue,
  isListed,
  searchValues,
  type Value,
  withTitle,
} from './filter-values.ts';
import { findDimension, listValues } from './list-values.ts';

interface ValueChoiceProps {
  chart: ChartRecord;
  view: ChartView;
  /** The dimension. */
  name: string;
  values: readonly string[];
  onChange: (values: string[]) => void;
  /** Called with the value that the typed text stands for, before it is added; undefined if there is none. */
  onTypedValue: (value: string | undefined) => void;
}

const MAX_LISTED = 200;

function withChosen(list: readonly Value[], chosen: readonly string[]): Value[] {
  const missing = chosen.filter((value) => !list.some((one) => one.value === value));
  return [...missing.map((value) => withTitle(value, list)), ...list];
}

export function ValueChoice(props: ValueChoiceProps) {
  const { name, values, onChange, onTypedValue } = props;
  const service = useService();
  const [typed, setTyped] = useState('');
  const searchField = useRef<HTMLInputElement>(null);
  /** Whether the user ticked a value that the typed text found: the text was then a search. */
  const [hasFound, setHasFound] = useState(false);
  const { answer, failure, isAsking, askAgain } = useAnswer(name, (signal) => listValues(service, props, signal));
  const isClosed = findDimension(service, name)?.values != null;
  const list = withChosen(answer ?? [], values);
  const found = searchValues(list, typed);
  const isTyped = typed.trim() !== '';
  const isNew = isTyped && !isClosed && canBeAdded(name, typed) && !isListed(list, typed);
  const typing = name === 'country' ? 'type a two-letter code' : 'type one';
  function toggleValue(value: string) {
    onChange(values.includes(value) ? values.filter((one) => one !== value) : [...values, value]);
    setHasFound(true);
  }

  function search(text: string) {
    setTyped(text);
    setHasFound(false);
  }

  function tick(value: string) {
    if (!values.includes(value)) onChange([...values, value]);
    search('');
  }

  function addTyped() {
    const match = findTypedValue(list, typed);
    if (match) tick(match.value);
    // Until the list has arrived, the typed text may still turn out to be in it.
    else if (isNew && !isAsking) tick(typed.trim());
  }

  // The user cannot see what is added as the dialog closes. Text that can be added as it stands is therefore not taken
  // for a value that merely contains it.
  const asTyped = findNamed(list, typed)?.value ?? (isNew ? typed.trim() : findTypedValue(list, typed)?.value);
  const typedValue = isTyped && !hasFound ? asTyped : undefined;
  useLayoutEffect(() => onTypedValue(typedValue), [typedValue]);

  return (
    <fieldset class="value-choice">
      <legend class="unseen">Values of {dimensionTitle(service.catalogue, name)}</legend>
      <div class="value-search">
        <label class="field">
          <span class="field-label">{isClosed ? 'Find a value' : `Find a value, or ${typing}`}</span>
          <input
            ref={searchField}
            type="text"
            value={typed}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => search(event.currentTarget.value)}
            onKeyDown={(event) => {
              // With nothing typed, Enter applies the filter.
              if (event.key !== 'Enter' || !isTyped) return;
              event.preventDefault();
              addTyped();
            }}
          />
        </label>
        {isNew && (
          <button
            type="button"
            onClick={() => {
              tick(typed.trim());
              // The button disappears with the typed text.
              searchField.current?.focus();
            }}
          >
            Add
          </button>
        )}
      </div>
      <Status what="values" isAsking={isAsking} words={answer ? `Values found: ${found.length}` : ''} />
      <div class="value-list" tabIndex={-1}>
        {found.slice(0, MAX_LISTED).map(({ value, title }) => (
          <label key={value} class="value">
            <input type="checkbox" checked={values.includes(value)} onChange={() => toggleValue(value)} />
            <span>{title}</span>
            {title !== value && value !== '' && <span class="muted">{value}</span>}
          </label>
        ))}
        {!answer && !failure && <Waiting what="values" />}
        {failure && <FailureNotice failure={failure} onRetry={askAgain} />}
        {answer && found.length === 0 && (
          <p class="muted">{isTyped ? 'No matching values.' : 'No values on these days.'}</p>
        )}
        {found.length > MAX_LISTED && <p class="muted">{found.length - MAX_LISTED} more; type to search.</p>}
      </div>
    </fieldset>
  );
}
