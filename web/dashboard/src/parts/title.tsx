/** The heading of a page, which is also what the tab is called. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

interface TitleProps {
  readonly text: string;
  readonly lead?: string | undefined;
  readonly children?: ComponentChildren;
}

export function Title({ text, lead, children }: TitleProps) {
  useEffect(() => {
    document.title = `${text} · blender-dp`;
  }, [text]);
  return (
    <header class="page-head">
      <div class="page-head-words">
        <h1>{text}</h1>
        {lead && <p class="lead">{lead}</p>}
      </div>
      {children}
    </header>
  );
}
