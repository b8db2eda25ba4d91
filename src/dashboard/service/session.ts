// The key, kept for this tab alone: closing the tab or signing out forgets it.

const NAME = 'secret_key';

export function readKey(): string | null {
  return sessionStorage.getItem(NAME);
}

export function keepKey(key: string): void {
  sessionStorage.setItem(NAME, key);
}

export function forgetKey(): void {
  sessionStorage.removeItem(NAME);
}
