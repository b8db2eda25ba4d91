// The key, kept for this tab alone: closing the tab or signing out forgets it.

const NAME = 'secret_key';

/**
 * Returns null if the browser blocks storage or has no room left: the user then has to enter the key after each reload.
 */
function withStorage<T>(use: (storage: Storage) => T): T | null {
  try {
    return use(sessionStorage);
  } catch {
    return null;
  }
}

export function readKey(): string | null {
  return withStorage((storage) => storage.getItem(NAME));
}

export function keepKey(key: string): void {
  withStorage((storage) => storage.setItem(NAME, key));
}

export function forgetKey(): void {
  withStorage((storage) => storage.removeItem(NAME));
}
