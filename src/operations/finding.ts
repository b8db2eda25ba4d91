// What `sps doctor` finds: one thing that was looked at, how it is, and what to do about it.

export interface Finding {
  /** What was looked at: database, connections, migrations, clock, disk, webhooks, webhook secrets, totals, labels, charts. */
  check: string;
  /** `unknown` is what cannot be seen from here. */
  state: 'ok' | 'warning' | 'problem' | 'unknown';
  /** One sentence; of anything but `ok` it says what to do. */
  words: string;
  /** The figures behind it. */
  figures?: Record<string, number | string | null>;
}
