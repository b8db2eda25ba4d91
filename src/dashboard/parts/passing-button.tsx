// A button that is gone once it was used: the focus goes on to what is around it, and not to nothing.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface PassingButtonProps {
  class?: string;
  /** Used already, and still there. */
  isBusy?: boolean;
  onClick: () => void;
  children: ComponentChildren;
}

export function PassingButton({ isBusy = false, onClick, ...rest }: PassingButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const own = button.current;
    // It is still in the page when this runs.
    return () => {
      if (own !== document.activeElement) return;
      own?.parentElement?.closest<HTMLElement>('[tabindex]')?.focus({ preventScroll: true });
    };
  }, []);
  return <button {...rest} ref={button} type="button" aria-disabled={isBusy} onClick={isBusy ? undefined : onClick} />;
}
