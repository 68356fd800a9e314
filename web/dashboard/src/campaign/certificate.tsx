/** Certificate of a release: the promise to each group, and the privacy that was spent. */

import { numberOf } from '@blender-dp/pages/numbers.js';
import {
  absentRelay,
  accountsInResult,
  lossWords,
  promisedTo,
} from '@blender-dp/pages/promises.js';
import type { Account, Loss, Release } from '../api/documents.js';
import { Card } from '../parts/card.js';

export function CertificateCard({ release }: { readonly release: Release }) {
  const { certificate, relay_batch } = release;
  const absent = absentRelay(relay_batch);
  return (
    <Card
      title={certificate.sentence}
      eyebrow="Certificate"
      caption="Computed exactly from the head list and the public parameters; every rounding goes up."
    >
      <div class="promise-list">
        {accountsInResult(certificate.accounts, relay_batch).map((account) => (
          <AccountPart account={account} key={account.to} />
        ))}
      </div>
      {absent && <p class="footnote">{absent}</p>}
    </Card>
  );
}

function AccountPart({ account }: { readonly account: Account }) {
  const { promised, spent } = account;
  return (
    <section class="promise">
      <h3>To {promisedTo(account.to)}</h3>
      <p class="badges">
        <span class="badge badge-model">{account.model}</span>
        <span class="badge">{account.verdict}</span>
      </p>
      <dl class="settings">
        <dt>Promised</dt>
        <dd>{exactLossWords(promised)}</dd>
        <dt>Spent at most</dt>
        <dd>{exactLossWords(spent)}</dd>
      </dl>
      <details class="more">
        <summary>Where it is spent</summary>
        <ul class="part-list">
          {account.parts.map((part) => (
            <li key={part.release}>
              <b>{part.release}</b>: {exactLossWords(part.spent)} ({part.verdict}). {part.method}
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
}

function exactLossWords({ epsilon, delta }: Loss): string {
  return lossWords(numberOf(epsilon), numberOf(delta));
}
