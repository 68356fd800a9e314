/** Texts typed by people, and labels of wildcard rows. */
import { WILDCARD_NAMES, WILDCARD_SIGN } from '@blender-dp/pages/cells.js';
import { visible } from '@blender-dp/pages/visible.js';
import type { Estimate } from '../api/documents.js';

export function Typed({ text }: { readonly text: string }) {
  const shown = visible(text);
  return (
    <span class="typed clip" title={shown}>
      {shown}
    </span>
  );
}

/** The name of a row: a query, a record, or the rest of something. */
export function QueryName({ row }: { readonly row: Estimate }) {
  return row.query === null ? <Wildcard name={WILDCARD_NAMES.rest} /> : <Typed text={row.query} />;
}

export function UrlName({ row }: { readonly row: Estimate }) {
  if (row.cell === 'other') return <Wildcard name={WILDCARD_NAMES.rest} />;
  return row.url ? <Typed text={row.url} /> : <Wildcard name={WILDCARD_NAMES.url} />;
}

function Wildcard({ name }: { readonly name: string }) {
  return (
    <span class="wildcard">
      <span class="wildcard-sign" aria-hidden="true">
        {WILDCARD_SIGN}
      </span>
      {name}
    </span>
  );
}
