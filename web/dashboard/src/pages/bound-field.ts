/** Fields of the form of a campaign, each bound to a part of the draft. */
import type { Draft } from './draft.js';
import type { Faults, FieldName } from './draft-faults.js';

export interface FormProps {
  readonly draft: Draft;
  readonly faults: Faults;
  readonly change: (part: Partial<Draft>) => void;
}

/** Returns what a field needs to show and change a part of the draft. */
export function bound({ draft, faults, change }: FormProps, name: FieldName) {
  return {
    value: draft[name],
    change: (value: string) => change({ [name]: value }),
    fault: faults[name],
  };
}
