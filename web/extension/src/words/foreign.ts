/** Texts of others, as people may see them. */
import { visible } from '@blender-dp/pages/visible.js';

/** Returns a text without signs that are invisible or turn its direction; its lines stay. */
export function visibleLines(text: string): string {
  return text.split(/\r?\n/).map(visible).join('\n');
}
