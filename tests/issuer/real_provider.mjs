/**
 * An OpenID Connect provider on loopback: `node real_provider.mjs LIBRARY`, the certified oidc-provider.
 *
 * Anybody may sign in by a name. Each line of JSON that is read changes the provider:
 * `keys` are the generations of keys that it publishes, of which the first signs; `behind` are the
 * seconds by which its clock is slow; `issuer` is the name that it gives itself. Its address, and then
 * an empty line for each change, are written.
 */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const { Provider } = await import(pathToFileURL(process.argv[2]));
const SECONDS = 1200;
const KINDS = {
  RSA: ['rsa', { modulusLength: 2048 }],
  P256: ['ec', { namedCurve: 'P-256' }],
  P384: ['ec', { namedCurve: 'P-384' }],
  P521: ['ec', { namedCurve: 'P-521' }],
  Ed25519: ['ed25519', {}],
};
/** An app for people; its tokens of the login (ID tokens) have its name as audience. */
const app = (client_id) => ({
  client_id,
  application_type: 'native',
  token_endpoint_auth_method: 'none',
  redirect_uris: ['http://127.0.0.1/signed-in'],
});
const PROGRAM = {
  client_id: 'program',
  client_secret: 'secret-of-the-program',
  grant_types: ['client_credentials'],
  response_types: [],
  redirect_uris: [],
};

const made = new Map();
function keysOf(generation) {
  if (!made.has(generation)) {
    const keys = Object.entries(KINDS).map(([kind, [type, options]]) => ({
      ...generateKeyPairSync(type, options).privateKey.export({ format: 'jwk' }),
      kid: `${generation}-${kind}`,
      use: 'sig',
    }));
    made.set(generation, keys);
  }
  return made.get(generation);
}

/** A resource is `https://AUDIENCE/ALGORITHM`; a token for it is a JWT. */
function resourceServer(_context, resource) {
  const { hostname, pathname } = new URL(resource);
  return {
    audience: hostname,
    scope: 'report',
    accessTokenFormat: 'jwt',
    accessTokenTTL: SECONDS,
    jwt: { sign: { alg: pathname.slice(1) } },
  };
}

const state = { keys: ['first'], behind: 0, issuer: undefined };
const now = Date.now;
Date.now = () => now() - state.behind * 1000;
let answer;
const server = createServer((request, response) => answer(request, response));
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const address = `http://127.0.0.1:${server.address().port}`;

function renew() {
  const provider = new Provider(state.issuer ?? address, {
    clients: [app('blender-dp-issuer'), app('another-app'), PROGRAM],
    cookies: { keys: ['a key of this test'] },
    features: {
      clientCredentials: { enabled: true },
      resourceIndicators: { enabled: true, getResourceServerInfo: resourceServer },
    },
    jwks: { keys: state.keys.flatMap(keysOf) },
    ttl: { IdToken: SECONDS },
  });
  answer = provider.callback();
}

renew();
process.stdout.write(`${address}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  Object.assign(state, JSON.parse(line));
  renew();
  process.stdout.write('\n');
}
process.exit(0);
