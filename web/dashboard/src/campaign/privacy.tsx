/** Privacy statement for the people who are asked to take part. */
import type { Certificate, HeadListDocument } from '../api/documents.js';
import type { Campaign } from '../api/messages.js';
import { useLoaded } from '../loading.js';
import { Card } from '../parts/card.js';
import { Shown } from '../parts/loading-note.js';
import { saveText } from '../parts/saving.js';
import { useVisit } from '../signed-in.js';
import { type Passage, privacyStatement, statementText } from '../words/privacy.js';
import { hasReached } from '../words/states.js';
import { Collector } from './collector.js';

export function PrivacyStatement({ campaign }: { readonly campaign: Campaign }) {
  const { service } = useVisit();
  const isPublished = hasReached(campaign.state, 'list-published');
  const [list] = useLoaded(
    async (): Promise<HeadListDocument | null> =>
      isPublished ? service.headList(campaign.id) : null,
    [service, campaign.id, isPublished],
  );
  const certificate = (campaign.certificate ?? null) as Certificate | null;
  return (
    <Shown loaded={list}>
      {(value) => (
        <Statement campaign={campaign} passages={privacyStatement(campaign, certificate, value)} />
      )}
    </Shown>
  );
}

interface StatementProps {
  readonly campaign: Campaign;
  readonly passages: readonly Passage[];
}

function Statement({ campaign, passages }: StatementProps) {
  return (
    <>
      <Card title="What happens with what you search for" eyebrow="Privacy statement">
        <dl class="settings">
          <Collector campaign={campaign} />
        </dl>
        <div class="statement">
          {passages.map(({ title, sentences }) => (
            <section key={title}>
              <h3>{title}</h3>
              {sentences.map((sentence) => (
                <p key={sentence}>{sentence}</p>
              ))}
            </section>
          ))}
        </div>
        <p class="controls">
          <button
            type="button"
            class="button"
            onClick={() => saveText('privacy-statement.txt', statementText(campaign, passages))}
          >
            Save as text
          </button>
          <button type="button" class="button" onClick={() => print()}>
            Print
          </button>
        </p>
      </Card>
      <Card title="The consent that opt-in users give">
        <p class="consent-text">{campaign.consent.text}</p>
      </Card>
    </>
  );
}
