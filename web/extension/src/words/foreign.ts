/** Texts of others, as people may see them. */
import { visible } from '@blender-dp/pages/visible.js';

/** Returns a text without signs that are invisible or turn its direction; its lines stay. */
export function visibleLines(text: string): string {
  return text.split(/\r?\n/).map(visible).join('\n');
}

/** Returns the host of a service or relay, which is who gets what is sent; empty if it is not known. */
export function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : '';
}
