// A finding of `sps doctor`: what was checked, what state it is in, and what to do about it.

export interface Finding {
  /** One of database, connections, migrations, clock, disk, webhooks, webhook secrets, totals, labels, charts. */
  check: string;
  /** `unknown` means that the state cannot be determined from here. */
  state: 'ok' | 'warning' | 'problem' | 'unknown';
  /** The finding as a sentence. A warning or problem also says what to do, unless the check itself failed. */
  message: string;
  /** The figures behind the finding. */
  figures?: Record<string, number | string | null>;
}
