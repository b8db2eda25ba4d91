// How a value changed, said in words for those who do not see the arrow.
import { describeChange } from '../words/values.ts';

const ARROWS = { up: '↑', down: '↓', same: '' };
const WORDS = { up: 'up ', down: 'down ', same: 'unchanged, ' };

export function Change({ value, before }: { value: number; before: number }) {
  const { text, direction } = describeChange(value, before);
  return (
    <span class={`change ${direction}`}>
      <span aria-hidden="true">{ARROWS[direction]}</span>
      <span class="unseen">{WORDS[direction]}</span>
      {text}
    </span>
  );
}
