/** Who collects: the controller of a campaign, with contact and privacy policy. */
import type { Campaign } from '../api/messages.js';
import { COLLECTOR, NOT_SAID } from '../words/privacy.js';

/** Rows of a list of settings. */
export function Collector({ campaign }: { readonly campaign: Campaign }) {
  return (
    <>
      {COLLECTOR.map(([name, title]) => (
        <>
          <dt>{title}</dt>
          <dd class="typed">{valueShown(name, campaign[name] ?? null)}</dd>
        </>
      ))}
    </>
  );
}

/** The service takes web addresses only, so a policy is safe to link. */
function valueShown(name: string, value: string | null) {
  if (value === null) return NOT_SAID;
  return name === 'privacy_policy' ? <a href={value}>{value}</a> : value;
}
