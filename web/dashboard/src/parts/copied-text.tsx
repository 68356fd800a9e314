/** Text to be copied, with a button that does it. */
import { useState } from 'preact/hooks';

interface CopiedTextProps {
  readonly text: string;
  /** Name of the button. */
  readonly title: string;
}

export function CopiedText({ text, title }: CopiedTextProps) {
  const [said, setSaid] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text); // there is none without HTTPS
      setSaid('Copied.');
    } catch {
      setSaid('Your browser does not allow it: select the text and copy it.');
    }
  };
  return (
    <>
      <pre class="copied-text">{text}</pre>
      <p class="controls">
        <button type="button" class="button" onClick={copy}>
          {title}
        </button>
        <span role="status">{said}</span>
      </p>
    </>
  );
}
