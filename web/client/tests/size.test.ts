/** The client with everything in it, as a page would load it. */
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { expect, test } from 'vitest';

const MOST_BYTES = 21_000;

test('the whole client is below 21 kB, minified and compressed, without dependencies', async () => {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const built = await build({ root, logLevel: 'silent', build: { write: false } });
  const [bundle] = Array.isArray(built) ? built : [built];
  if (!bundle || !('output' in bundle)) throw new Error('nothing was built');
  expect(bundle.output.length).toBe(1);
  const [file] = bundle.output;
  expect(file.imports).toEqual([]);
  expect(gzipSync(file.code).length).toBeLessThan(MOST_BYTES);
  expect(file.code).not.toMatch(/Math\.random|https?:\/\/\w/);
});
