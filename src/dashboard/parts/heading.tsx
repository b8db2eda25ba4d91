// The heading of a view. Sets the title of the tab, and takes the focus if the user comes from another view.
import { useLayoutEffect, useRef } from 'preact/hooks';

let isFirst = true;

/** Sets the title of the tab. Returns whether the tab showed something else before. */
export function setTabTitle(title: string): boolean {
  const wasFirst = isFirst;
  isFirst = false;
  document.title = `${title} · Dashboard`;
  return !wasFirst;
}

export function Heading({ title }: { title: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    if (setTabTitle(title)) heading.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [title]);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {title}
    </h1>
  );
}
