/** Trial of a campaign with simulated devices, for an operator who has no people yet. */
import { Card } from '../parts/card.js';
import { CopiedText } from '../parts/copied-text.js';

export function Trial({ id }: { readonly id: string }) {
  const command = `blender-dp devices --service ${location.origin} --campaign ${id} --drive`;
  return (
    <Card
      title="Try it with simulated devices"
      caption="For a trial only: this command sends made-up searches of 40,000 devices to this campaign and takes it from draft to release. It asks for your operator token. Run it in a terminal:"
    >
      <CopiedText text={command} title="Copy the command" />
    </Card>
  );
}
