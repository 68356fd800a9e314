/** Who collects: shown wherever a person decides, or sees what they decided. */
import { webAddress } from '@blender-dp/client';
import type { Collector } from '../device/collection.js';
import { collectorSentences } from '../words/ledger.js';
import { made } from './elements.js';

/** Returns a paragraph that names the host, the controller, the contact and the privacy policy. */
export function collectorLine(collector: Collector, host: string): HTMLElement {
  const place = made('strong', {}, host || 'an address that is not known');
  const sentences = collectorSentences(collector).join(' ');
  return made(
    'p',
    {},
    'Goes to ',
    place,
    `. ${sentences} `,
    ...policyPart(collector.privacyPolicy),
  );
}

/** Only an address of the web becomes a link: what a service writes could be anything. */
function policyPart(policy: string): readonly (Node | string)[] {
  const place = webAddress(policy);
  if (!place) return ['It gives no privacy policy.'];
  const { address: href, shown } = place;
  return ['Privacy policy: ', made('a', { href, target: '_blank', rel: 'noreferrer' }, shown)];
}
