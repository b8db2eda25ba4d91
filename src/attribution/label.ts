// A label: the parts of an attribution that charts can tell apart. Pure.

/** An attribution without its user id. */
export interface Label {
  status: string;
  channel: string | null;
  campaign: string | null;
  ad_group: string | null;
  ad_set: string | null;
  creative: string | null;
  source: string;
}

/**
 * Attributions posted to the API name no source, and imported ones need not; charts show them under this one
 * (decisions.md 4).
 */
const DEFAULT_SOURCE = 'custom';

type Given = { status: string } & { [name in Exclude<keyof Label, 'status' | 'source'>]?: string | null };

/** Makes a label; blank counts as absent. */
export function toLabel(given: Given, source?: string | null): Label {
  return {
    status: given.status,
    channel: given.channel || null,
    campaign: given.campaign || null,
    ad_group: given.ad_group || null,
    ad_set: given.ad_set || null,
    creative: given.creative || null,
    source: source || DEFAULT_SOURCE,
  };
}
