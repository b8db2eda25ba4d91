// Content with a button to remove it.
import type { ComponentChildren } from 'preact';

interface ChipProps {
  /** What the button removes, in words. */
  name: string;
  onRemove: () => void;
  children: ComponentChildren;
}

export function Chip({ name, onRemove, children }: ChipProps) {
  return (
    <span class="chip">
      {children}
      <button type="button" aria-label={`Remove ${name}`} onClick={onRemove}>
        ×
      </button>
    </span>
  );
}
