// The key, kept for this tab alone: closing the tab or signing out forgets it.

const NAME = 'secret_key';

/** Nothing where the browser keeps nothing for pages: then the key is asked for after each reload. */
function storage(): Storage | undefined {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}

export function readKey(): string | null {
  return storage()?.getItem(NAME) ?? null;
}

export function keepKey(key: string): void {
  storage()?.setItem(NAME, key);
}

export function forgetKey(): void {
  storage()?.removeItem(NAME);
}
