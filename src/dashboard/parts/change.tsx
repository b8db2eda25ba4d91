// How a value changed, said in words for those who do not see the arrow.
import { describeChange } from '../words/values.ts';

const ARROWS = { up: '↑', down: '↓', same: '', new: '' };
const WORDS = { up: 'up ', down: 'down ', same: 'unchanged, ', new: '' };

interface ChangeProps {
  value: number;
  before: number;
  /** Whether more is no good news: then there is no green or red. */
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
