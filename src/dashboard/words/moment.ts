// Formats the API's datetimes in the user's time zone, and waits in words.
const moment = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

export function formatMoment(datetime: string): string {
  return moment.format(Date.parse(datetime.replace(/(\.\d{3})\d*/, '$1').replace(/([+-]\d\d)(\d\d)$/, '$1:$2')));
}

const ahead = new Intl.RelativeTimeFormat('en-US', { numeric: 'always' });
const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
] as const;

/** Formats a wait as `in 40 minutes` or `in 5 hours`: rounded up, in the largest unit that it spans at least twice. */
export function formatWait(seconds: number): string {
  const [unit, length] = UNITS.find((one) => seconds >= 2 * one[1]) ?? (['minute', 60] as const);
  return ahead.format(Math.ceil(seconds / length), unit);
}
