/** Device of the browser client that asks for many tokens, and finishes them; JSON in and out. */
import { text } from 'node:stream/consumers';

const [, , bundle, step] = process.argv;
const client = await import(bundle);
const { token_key: named, cases } = JSON.parse(await text(process.stdin));
const key = await client.readIssuerKey(named);
const secure = (count) => crypto.getRandomValues(new Uint8Array(count));
const bytes = (written) => Uint8Array.from(Buffer.from(written, 'base64url'));
const written = (read) => Buffer.from(read).toString('base64url');

const STEPS = {
  async request({ campaign }) {
    const challenge = await client.challengeOf(campaign);
    const { request, nonce, inverse } = await client.requestToken(key, challenge, secure);
    return { request: written(request), nonce: written(nonce), inverse: written(inverse) };
  },
  async finish({ campaign, nonce, inverse, response }) {
    const secret = { nonce: bytes(nonce), inverse: bytes(inverse) };
    const challenge = await client.challengeOf(campaign);
    const token = await client.finishToken(key, challenge, secret, bytes(response));
    return { token: written(token), report_id: written(await client.reportIdOf(token)) };
  },
};

const done = [];
for (const one of cases) done.push(await STEPS[step](one));
process.stdout.write(JSON.stringify(done));
