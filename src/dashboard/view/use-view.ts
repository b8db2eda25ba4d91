// The view of the address, and going to another one.
import { useEffect, useState } from 'preact/hooks';
import { readAddress, writeAddress } from './address.ts';
import type { View } from './view.ts';

export function useView(): View {
  const [view, setView] = useState(readView);
  useEffect(() => {
    const follow = () => setView(readView());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return view;
}

/** The view of the address, which what is drawn may be a moment behind. */
export function readView(): View {
  return readAddress(location.hash);
}

export function show(view: View): void {
  location.hash = writeAddress(view);
}
