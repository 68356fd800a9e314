/** Invitation: link, QR code and text with which people are asked to take part. */
import type { Campaign } from '../api/messages.js';
import { sharePath } from '../api/service.js';
import { useLoaded } from '../loading.js';
import { Card } from '../parts/card.js';
import { CopiedText } from '../parts/copied-text.js';
import { Shown } from '../parts/loading-note.js';
import { useVisit } from '../signed-in.js';

export function Invitation({ campaign }: { readonly campaign: Campaign }) {
  const { service } = useVisit();
  const { id, state } = campaign;
  const [text] = useLoaded(() => service.invitation(id), [service, JSON.stringify(campaign)]);
  const path = sharePath(id);
  return (
    <Card
      title="Invite people"
      caption="The share page says who collects, why, until when, and what each choice sends. It is public."
    >
      {state === 'draft' && <p class="callout">Open the campaign before you invite people.</p>}
      <div class="invitation">
        <img src={`${path}/qr.svg`} alt="QR code of the share page" width="180" height="180" />
        <div class="invitation-words">
          <p>
            <a class="typed" href={path}>
              {location.origin + path}
            </a>
          </p>
          <Shown loaded={text}>
            {(value) => <CopiedText text={value} title="Copy the text" />}
          </Shown>
        </div>
      </div>
    </Card>
  );
}
