// Something that can be removed where it stands.
import type { ComponentChildren } from 'preact';

interface ChipProps {
  /** What is removed, in words. */
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
