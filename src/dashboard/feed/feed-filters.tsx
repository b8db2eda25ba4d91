// Which events are listed.
import { useState } from 'preact/hooks';
import type { FeedView } from '../view/view.ts';

interface FeedFiltersProps {
  view: FeedView;
  /** Types seen so far, offered while typing. */
  types: readonly string[];
  onChange: (view: FeedView) => void;
  onRefresh: () => void;
}

type Member = Exclude<keyof FeedView, 'page'>;

const FIELDS: readonly { name: Member; label: string }[] = [
  { name: 'event_type', label: 'Event type' },
  { name: 'customer_user_id', label: 'Customer user ID' },
  { name: 'profile_id', label: 'Profile ID' },
];

export function FeedFilters({ view, types, onChange, onRefresh }: FeedFiltersProps) {
  const [draft, setDraft] = useState(view);
  return (
    <form
      class="controls"
      aria-label="Which events"
      onSubmit={(event) => {
        event.preventDefault();
        if (JSON.stringify(draft) === JSON.stringify(view)) onRefresh();
        else onChange(draft);
      }}
    >
      {FIELDS.map(({ name, label }) => (
        <label class="field" key={name}>
          <span class="field-label">{label}</span>
          <input
            type="text"
            autocomplete="off"
            spellcheck={false}
            list={name === 'event_type' ? 'event-types' : undefined}
            value={draft[name] ?? ''}
            onInput={(event) => setDraft({ ...draft, [name]: event.currentTarget.value.trim() || null })}
          />
        </label>
      ))}
      <datalist id="event-types">
        {types.map((type) => (
          <option key={type} value={type} />
        ))}
      </datalist>
      <button type="submit">Show</button>
    </form>
  );
}
