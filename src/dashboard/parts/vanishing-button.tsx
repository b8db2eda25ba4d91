// A button that disappears once it is used. The focus then moves to the element around it instead of getting lost.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface VanishingButtonProps {
  class?: string;
  /** Whether it has been used but is still there: clicks are then ignored. */
  isBusy?: boolean;
  onClick: () => void;
  children: ComponentChildren;
}

export function VanishingButton({ isBusy = false, onClick, ...rest }: VanishingButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const own = button.current;
    // The button is still in the page when this cleanup runs.
    return () => {
      if (own !== document.activeElement) return;
      own?.parentElement?.closest<HTMLElement>('[tabindex]')?.focus({ preventScroll: true });
    };
  }, []);
  return <button {...rest} ref={button} type="button" aria-disabled={isBusy} onClick={isBusy ? undefined : onClick} />;
}
