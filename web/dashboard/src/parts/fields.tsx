/** Fields of a form, each with a label and an explanation. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  /** What the person should reconsider. */
  readonly note?: string | undefined;
  /** Why the value cannot be taken. */
  readonly fault?: string | undefined;
  readonly children: (id: string, described: string | undefined) => ComponentChildren;
}

export function Field({ label, hint, note, fault, children }: FieldProps) {
  const id = useId();
  const described = hint || note || fault ? `${id}-hint` : undefined;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id, described)}
      <div id={described} aria-live="polite">
        {fault && <p class="fault">{fault}</p>}
        {note && <p class="note">{note}</p>}
        {hint && <p class="hint">{hint}</p>}
      </div>
    </div>
  );
}

interface TextProps extends Omit<FieldProps, 'children'> {
  readonly value: string;
  readonly change: (value: string) => void;
  readonly rows?: number;
  readonly type?: 'text' | 'search' | 'password' | 'datetime-local';
  readonly isNeeded?: boolean;
  readonly mode?: 'decimal' | 'numeric';
}

/** A line, a number as text, a date, or with `rows` a longer text. */
export function TextField(props: TextProps) {
  const { label, hint, note, fault, value, change, rows, type, isNeeded, mode } = props;
  return (
    <Field label={label} hint={hint} note={note} fault={fault}>
      {(id, described) =>
        rows ? (
          <textarea
            id={id}
            rows={rows}
            value={value}
            required={isNeeded}
            aria-describedby={described}
            aria-invalid={fault ? true : undefined}
            onInput={(event) => change(event.currentTarget.value)}
          />
        ) : (
          <input
            id={id}
            type={(type ?? 'text') as 'text'} // the types of preact tell inputs apart by it
            value={value}
            required={isNeeded}
            inputMode={mode}
            autocomplete={type === 'password' ? 'current-password' : 'off'}
            aria-describedby={described}
            aria-invalid={fault ? true : undefined}
            onInput={(event) => change(event.currentTarget.value)}
          />
        )
      }
    </Field>
  );
}
