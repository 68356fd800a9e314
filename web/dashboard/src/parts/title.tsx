/** Heading of a page, also the title of the tab. */
import { visible } from '@blender-dp/pages/visible.js';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

interface TitleProps {
  readonly text: string;
  readonly lead?: string | undefined;
  readonly children?: ComponentChildren;
}

export function Title({ text, lead, children }: TitleProps) {
  useEffect(() => {
    document.title = `${visible(text)} · blender-dp`;
  }, [text]);
  return (
    <header class="page-head">
      <div class="page-head-words">
        <h1>{visible(text)}</h1>
        {lead && <p class="lead">{lead}</p>}
      </div>
      {children}
    </header>
  );
}
