/** Fields of a form, each with a label and an explanation. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly children: (id: string, described: string | undefined) => ComponentChildren;
}

export function Field({ label, hint, children }: FieldProps) {
  const id = useId();
  const described = hint ? `${id}-hint` : undefined;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id, described)}
      {hint && (
        <p class="hint" id={described}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface TextProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly change: (value: string) => void;
  readonly rows?: number;
  readonly type?: 'text' | 'search' | 'password' | 'datetime-local';
  readonly isNeeded?: boolean;
  readonly mode?: 'decimal' | 'numeric';
}

/** A line, a number as text, a date, or with `rows` a longer text. */
export function TextField({ label, hint, value, change, rows, type, isNeeded, mode }: TextProps) {
  return (
    <Field label={label} {...(hint ? { hint } : {})}>
      {(id, described) =>
        rows ? (
          <textarea
            id={id}
            rows={rows}
            value={value}
            required={isNeeded}
            aria-describedby={described}
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
            onInput={(event) => change(event.currentTarget.value)}
          />
        )
      }
    </Field>
  );
}
