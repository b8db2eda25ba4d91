// The view of the address, and going to another one.
import { useEffect, useState } from 'preact/hooks';
import { readAddress, writeAddress } from './address.ts';
import type { View } from './view.ts';

export function useView(): View {
  const [view, setView] = useState(() => readAddress(location.hash));
  useEffect(() => {
    const follow = () => setView(readAddress(location.hash));
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return view;
}

export function show(view: View): void {
  location.hash = writeAddress(view);
}
