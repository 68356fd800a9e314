import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  // The client's sources, so that no test needs a build of it, and the offline pages' parts.
  resolve: {
    alias: {
      '@blender-dp/client': at('client/src/index.ts'),
      '@blender-dp/pages': at('../src/blender_dp/pages/assets/shared'),
    },
  },
  test: { include: ['*/tests/**/*.test.ts'], testTimeout: 60_000, reporters: ['dot'] },
});
