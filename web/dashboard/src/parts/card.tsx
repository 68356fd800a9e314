/** A part of a page with its heading. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface CardProps {
  readonly title: string;
  readonly eyebrow?: string;
  readonly caption?: string | undefined;
  readonly children?: ComponentChildren;
}

export function Card({ title, eyebrow, caption, children }: CardProps) {
  const id = useId();
  return (
    <section class="card" aria-labelledby={id}>
      {eyebrow && <p class="eyebrow">{eyebrow}</p>}
      <h2 id={id}>{title}</h2>
      {caption && <p class="caption">{caption}</p>}
      {children}
    </section>
  );
}

export interface TileProps {
  readonly name: string;
  readonly value: string;
  readonly note?: string | undefined;
}

/** Numbers side by side. */
export function Tiles({ tiles, label }: { readonly tiles: readonly TileProps[]; label?: string }) {
  return (
    <dl class="tiles" aria-label={label}>
      {tiles.map(({ name, value, note }) => (
        <div class="tile" key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          {note && <dd class="tile-note">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}
