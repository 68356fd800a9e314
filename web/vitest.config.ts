import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const client = fileURLToPath(new URL('client/src/index.ts', import.meta.url));

export default defineConfig({
  // The client's sources, so that no test needs a build of it.
  resolve: { alias: { '@blender-dp/client': client } },
  test: { include: ['*/tests/**/*.test.ts'], testTimeout: 60_000, reporters: ['dot'] },
});
