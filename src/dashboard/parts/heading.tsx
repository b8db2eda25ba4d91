// The heading of a view: names the tab, and takes the focus when the view was opened from another one.
import { useLayoutEffect, useRef } from 'preact/hooks';

let isFirst = true;

/** Names the tab after what it shows; answers whether it showed something else before. */
export function nameTab(title: string): boolean {
  const wasFirst = isFirst;
  isFirst = false;
  document.title = `${title} · Dashboard`;
  return !wasFirst;
}

export function Heading({ title }: { title: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    if (nameTab(title)) heading.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [title]);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {title}
    </h1>
  );
}
