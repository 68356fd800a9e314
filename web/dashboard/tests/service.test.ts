import { expect, test } from 'vitest';
import type { NewCampaign } from '../src/api/messages.js';
import { documentAddress, Service, ServiceProblem } from '../src/api/service.js';

interface Asked {
  readonly url: string;
  readonly options: RequestInit;
}

/** A way to a service that gives these answers and remembers what it was asked. */
function answering(...answers: Response[]): [typeof fetch, Asked[]] {
  const asked: Asked[] = [];
  const ask = async (url: unknown, options: RequestInit = {}) => {
    asked.push({ url: String(url), options });
    const next = answers.shift();
    if (!next) throw new TypeError('Failed to fetch');
    return next;
  };
  return [ask as typeof fetch, asked];
}

const json = (value: unknown, status = 200) => new Response(JSON.stringify(value), { status });

test('the token is sent as a header to the service itself, and never as a cookie', async () => {
  const [ask, asked] = answering(json({ name: 'a', role: 'operator' }));
  await new Service('secret', ask).whoAmI();
  expect(asked[0]?.url).toBe('/v1/whoami');
  expect(new Headers(asked[0]?.options.headers).get('authorization')).toBe('Bearer secret');
  expect(asked[0]?.options.credentials).toBe('omit');
});

test('a visitor without a token sends none', async () => {
  const [ask, asked] = answering(json({}));
  await new Service(null, ask).campaign('x');
  expect(new Headers(asked[0]?.options.headers).has('authorization')).toBe(false);
});

test('campaigns are fetched page by page until one is not full', async () => {
  const page = (from: number, to: number) =>
    json({ campaigns: Array.from({ length: to - from }, (_, at) => ({ id: `c${from + at}` })) });
  const [ask, asked] = answering(page(0, 100), page(100, 200), page(200, 230));
  expect(await new Service('t', ask).campaigns()).toHaveLength(230);
  expect(asked.map(({ url }) => url)).toEqual([
    '/v1/campaigns?limit=100',
    '/v1/campaigns?limit=100&after=c99',
    '/v1/campaigns?limit=100&after=c199',
  ]);
});

test('an edit names the draft that was read, a new campaign names none', async () => {
  const stored = new Response('{"id":"x"}', { headers: { etag: '"sha256:1"' } });
  const [ask, asked] = answering(stored, json({ id: 'x' }), json({ id: 'y' }));
  const service = new Service('t', ask);
  const { tag } = await service.draft('x');
  await service.put('x', {} as NewCampaign, tag);
  await service.put('y', {} as NewCampaign);
  const [, edit, creation] = asked.map(({ options }) => new Headers(options.headers));
  expect(edit?.get('if-match')).toBe('"sha256:1"');
  expect(creation?.has('if-match')).toBe(false);
});

test('a problem is told with its slug, its words and the field at fault', async () => {
  const type = 'urn:blender-dp:problem:parameters-refused';
  const [ask] = answering(json({ type, title: 'Out of range.', status: 422, where: 'delta' }, 422));
  const thrown = await new Service('t', ask).campaign('x').catch((problem) => problem);
  expect(thrown).toBeInstanceOf(ServiceProblem);
  expect(thrown).toMatchObject({
    slug: 'parameters-refused',
    status: 422,
    message: 'Out of range.',
    where: 'delta',
  });
});

test('an answer that is no problem document, and no answer at all, are told too', async () => {
  const [ask] = answering(new Response('<html>', { status: 502 }));
  const service = new Service('t', ask);
  await expect(service.whoAmI()).rejects.toThrow('status 502');
  await expect(service.whoAmI()).rejects.toThrow('cannot be reached');
});

test('a move names the state that it starts from', async () => {
  const [ask, asked] = answering(json({}));
  await new Service('t', ask).move('x', 'open-opt-in', 'draft');
  expect(asked[0]).toMatchObject({ url: '/v1/campaigns/x/moves', options: { method: 'POST' } });
  expect(JSON.parse(String(asked[0]?.options.body))).toEqual({
    move: 'open-opt-in',
    from: 'draft',
  });
});

test('a retry names the kind of job', async () => {
  const [ask, asked] = answering(json({}));
  await new Service('t', ask).retry('x', 'head-list');
  expect(asked[0]).toMatchObject({ url: '/v1/campaigns/x/retries', options: { method: 'POST' } });
  expect(JSON.parse(String(asked[0]?.options.body))).toEqual({ kind: 'head-list' });
});

test('trends are asked of the later campaign, since the earlier one', async () => {
  const [ask, asked] = answering(json({ changes: [] }));
  expect(await new Service(null, ask).trends('x', 'y&z')).toEqual({ changes: [] });
  expect(asked[0]?.url).toBe('/v1/campaigns/x/trends?since=y%26z');
});

test('ids cannot lead to another path', () => {
  expect(documentAddress('../tokens', 'release')).toBe('/v1/campaigns/..%2Ftokens/release');
});
