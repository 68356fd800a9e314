/** Confirmation before a move that cannot be undone. */
import { visible } from '@blender-dp/pages/visible.js';
import { useEffect, useId, useRef, useState } from 'preact/hooks';

/** A name as a person reads and types it: spaces as one, and no sign that nobody sees. */
const asTyped = (text: string) => visible(text).replace(/\s+/g, ' ').trim();

interface ConfirmProps {
  readonly title: string;
  readonly warning: string;
  /** What must be typed first, if anything. */
  readonly typed?: string | undefined;
  readonly answer: (isSure: boolean) => void;
}

export function Confirm({ title, warning, typed, answer }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const isSure = useRef(false);
  const id = useId();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  // The browser closes it, also at Escape, and gives the focus back to where it was.
  const close = (sure: boolean) => {
    isSure.current = sure;
    dialog.current?.close();
  };
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={() => answer(isSure.current)}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          close(true);
        }}
      >
        <h2 id={id}>{title}?</h2>
        <p>{warning}</p>
        {typed && (
          <label class="field">
            <span>
              To go on, type <b class="typed">{asTyped(typed)}</b>
            </span>
            <input value={text} onInput={(event) => setText(event.currentTarget.value)} />
          </label>
        )}
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={() => close(false)}>
            Cancel
          </button>
          <button
            type="submit"
            class="button button-strong"
            disabled={typed !== undefined && asTyped(text) !== asTyped(typed)}
          >
            {title}
          </button>
        </div>
      </form>
    </dialog>
  );
}
