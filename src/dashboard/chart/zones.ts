// The time zones to choose from: the app's, UTC, this computer's, then all that the browser knows.
import type { Option } from '../parts/select.tsx';
import { zoneTitle } from '../words/terms.ts';

export function listZoneOptions(chosen: string | null): Option[] {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const first = [...new Set(['UTC', own, ...(chosen === null ? [] : [chosen])])];
  const others = Intl.supportedValuesOf('timeZone').filter((zone) => !first.includes(zone));
  return [
    { value: '', title: 'The app’s' },
    ...[...first, ...others].map((value) => ({ value, title: zoneTitle(value) })),
  ];
}
