// Reads the view from the address, and goes to another one.
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

/** Returns the view that the address names. What is rendered may be a moment behind it. */
export function readView(): View {
  return readAddress(location.hash);
}

export function show(view: View): void {
  location.hash = writeAddress(view);
}
