// The heading of a view: names the tab, and takes the focus when the view was opened from another one.
import { useEffect, useRef } from 'preact/hooks';

let isFirst = true;

export function Heading({ title }: { title: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Dashboard`;
    if (!isFirst) heading.current?.focus({ preventScroll: true });
    isFirst = false;
    scrollTo(0, 0);
  }, [title]);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {title}
    </h1>
  );
}
