/** What was promised to whom, and what is spent. */

import { numberOf, plain } from '@blender-dp/pages/numbers.js';
import type { Account, Certificate } from '../api/documents.js';
import { Card } from '../parts/card.js';

export function CertificateCard({ certificate }: { readonly certificate: Certificate }) {
  return (
    <Card
      title={certificate.sentence}
      eyebrow="Certificate"
      caption="Computed exactly from the head list and the public parameters, rounded against us."
    >
      <div class="promise-list">
        {certificate.accounts.map((account) => (
          <AccountPart account={account} key={account.to} />
        ))}
      </div>
    </Card>
  );
}

function AccountPart({ account }: { readonly account: Account }) {
  const { promised, spent } = account;
  return (
    <section class="promise">
      <h3>To {account.to}</h3>
      <p class="badges">
        <span class="badge badge-model">{account.model}</span>
        <span class="badge">{account.verdict}</span>
      </p>
      <dl class="settings">
        <dt>Promised</dt>
        <dd>
          ε = {plain(numberOf(promised.epsilon))}, δ = {plain(numberOf(promised.delta))}
        </dd>
        <dt>Spent at most</dt>
        <dd>
          ε = {plain(numberOf(spent.epsilon))}, δ = {plain(numberOf(spent.delta))}
        </dd>
      </dl>
      <details class="more">
        <summary>Where it is spent</summary>
        <ul class="part-list">
          {account.parts.map((part) => (
            <li key={part.release}>
              <b>{part.release}</b>: ε = {plain(numberOf(part.spent.epsilon))}, δ ={' '}
              {plain(numberOf(part.spent.delta))} ({part.verdict}). {part.method}
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
}
