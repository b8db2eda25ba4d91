// A labelled choice of one from a list.

export interface Option {
  value: string;
  title: string;
}

interface SelectProps {
  label: string;
  value: string;
  options: readonly Option[];
  onChange: (value: string) => void;
}

export function Select({ label, value, options, onChange }: SelectProps) {
  return (
    <label class="field">
      <span class="field-label">{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.title}
          </option>
        ))}
      </select>
    </label>
  );
}
