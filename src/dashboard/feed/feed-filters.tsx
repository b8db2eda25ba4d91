// The form that chooses which events are listed.
import { useEffect, useState } from 'preact/hooks';
import { Select } from '../parts/select.tsx';
import { askEventTypes } from '../service/client.ts';
import { useAnswer } from '../service/use-answer.ts';
import type { FeedView } from '../view/view.ts';

interface FeedFiltersProps {
  view: FeedView;
  onChange: (view: FeedView) => void;
  onRefresh: () => void;
}

const FIELDS = [
  { name: 'customer_user_id', label: 'Customer user ID' },
  { name: 'profile_id', label: 'Profile ID' },
] as const;

/** Trims the identifiers. Not while they are typed: a blank within an identifier is at its end for a moment. */
function trim(draft: FeedView): FeedView {
  const trimmed = { ...draft };
  for (const { name } of FIELDS) trimmed[name] = draft[name]?.trim() || null;
  return trimmed;
}

export function FeedFilters({ view, onChange, onRefresh }: FeedFiltersProps) {
  const [draft, setDraft] = useState(view);
  // The form is reused for every address: a new one would lose the focus.
  useEffect(() => setDraft(view), [view]);
  const { answer: known = [], failure, askAgain } = useAnswer('event types', askEventTypes);
  const types = [...new Set([...known, ...(draft.event_type === null ? [] : [draft.event_type])])];
  return (
    <form
      class="controls"
      aria-label="Event filters"
      onSubmit={(event) => {
        event.preventDefault();
        if (failure) askAgain();
        const next = trim(draft);
        setDraft(next);
        if (JSON.stringify(next) === JSON.stringify(view)) onRefresh();
        else onChange(next);
      }}
    >
      <Select
        label="Event type"
        value={draft.event_type ?? ''}
        options={[{ value: '', title: 'Any' }, ...types.map((value) => ({ value, title: value }))]}
        onChange={(type) => setDraft({ ...draft, event_type: type || null })}
      />
      {FIELDS.map(({ name, label }) => (
        <label class="field" key={name}>
          <span class="field-label">{label}</span>
          <input
            type="text"
            autocomplete="off"
            spellcheck={false}
            value={draft[name] ?? ''}
            onInput={(event) => setDraft({ ...draft, [name]: event.currentTarget.value })}
          />
        </label>
      ))}
      <button type="submit">Show</button>
      {failure && (
        <p class="hint" role="alert">
          The event types could not be loaded. Press Show to try again.
        </p>
      )}
    </form>
  );
}
