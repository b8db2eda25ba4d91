// How a value changed, with the direction in words for users who do not see the arrow.
import { describeChange } from '../words/values.ts';

const ARROWS = { up: '↑', down: '↓', same: '', new: '' };
const WORDS = { up: 'up ', down: 'down ', same: 'unchanged, ', new: '' };

interface ChangeProps {
  value: number;
  before: number;
  /** Whether an increase is not good news: the change is then neither green nor red. */
  isLoss?: boolean;
}

export function Change({ value, before, isLoss = false }: ChangeProps) {
  const { text, direction } = describeChange(value, before);
  return (
    <span class={`change ${isLoss ? 'loss' : direction}`}>
      <span aria-hidden="true">{ARROWS[direction]}</span>
      <span class="unseen">{WORDS[direction]}</span>
      {text}
    </span>
  );
}
