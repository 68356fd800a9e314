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
        <Statement
          name={campaign.name}
          passages={privacyStatement(campaign, certificate, value)}
          consent={campaign.consent.text}
        />
      )}
    </Shown>
  );
}

interface StatementProps {
  readonly name: string;
  readonly passages: readonly Passage[];
  readonly consent: string;
}

function Statement({ name, passages, consent }: StatementProps) {
  return (
    <>
      <Card title="What happens with what you search for" eyebrow="Privacy statement">
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
            onClick={() => saveText('privacy-statement.txt', statementText(name, passages))}
          >
            Save as text
          </button>
          <button type="button" class="button" onClick={() => print()}>
            Print
          </button>
        </p>
      </Card>
      <Card title="The consent that opt-in users give">
        <p class="consent-text">{consent}</p>
      </Card>
    </>
  );
}
