/** Choice of one of a few options, side by side. */
import { useId } from 'preact/hooks';

interface ChoiceProps<Name extends string> {
  readonly legend: string;
  readonly options: readonly { readonly value: Name; readonly name: string }[];
  readonly chosen: Name;
  readonly choose: (value: Name) => void;
}

export function Choice<Name extends string>({
  legend,
  options,
  chosen,
  choose,
}: ChoiceProps<Name>) {
  const group = useId();
  return (
    <fieldset class="segmented">
      <legend>{legend}</legend>
      {options.map(({ value, name }) => (
        <label key={value}>
          <input
            type="radio"
            name={group}
            value={value}
            checked={value === chosen}
            onChange={() => choose(value)}
          />
          <span>{name}</span>
        </label>
      ))}
    </fieldset>
  );
}
