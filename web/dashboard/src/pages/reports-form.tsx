/** Part of a campaign's form: whether a token goes with every report, and who issues tokens. */
import { Card } from '../parts/card.js';
import { Choice } from '../parts/choice.js';
import { TextField } from '../parts/fields.js';
import { REPORT_KINDS } from '../words/tokens.js';
import { bound, type FormProps } from './bound-field.js';

export function Reports(props: FormProps) {
  const { reports } = props.draft;
  return (
    <Card title="How reports are counted">
      <div class="form">
        <div class="field">
          <Choice
            legend="Reports"
            options={REPORT_KINDS}
            chosen={reports}
            choose={(kind) => props.change({ reports: kind })}
          />
          <p class="hint">{REPORT_KINDS.find(({ value }) => value === reports)?.hint}</p>
        </div>
        {reports === 'token' && <Issuer {...props} />}
      </div>
    </Card>
  );
}

function Issuer(props: FormProps) {
  return (
    <>
      <TextField
        label="Address of another issuer"
        hint="Optional. If another server knows your people, it can give out the tokens, such as https://issuer.example/. Left empty, this service does: one for each enrolment."
        {...bound(props, 'issuer_address')}
      />
      <TextField
        label="Public key of that issuer"
        hint="The issuer prints it when it starts."
        {...bound(props, 'issuer_public_key')}
      />
    </>
  );
}
