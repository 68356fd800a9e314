/** A choice among campaigns that have a release. */

import { day } from '@blender-dp/pages/numbers.js';
import type { Campaign } from '../api/messages.js';
import { Field } from './fields.js';

interface ChoiceProps {
  readonly label: string;
  readonly campaigns: readonly Campaign[];
  readonly chosen: string | null;
  readonly choose: (id: string) => void;
}

export function CampaignChoice({ label, campaigns, chosen, choose }: ChoiceProps) {
  return (
    <Field label={label}>
      {(id) => (
        <select
          id={id}
          value={chosen ?? ''}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          <option value="" disabled>
            Choose …
          </option>
          {campaigns.map((campaign) => (
            <option key={campaign.id} value={campaign.id}>
              {campaign.name}, {day(campaign.moved_at)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
