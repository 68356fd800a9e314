import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: at('.'),
  base: './',
  // The client's sources, so that the dashboard needs no build of it, and the offline pages' parts.
  resolve: {
    alias: {
      '@blender-dp/client': at('../client/src/index.ts'),
      '@blender-dp/pages': at('../../src/blender_dp/pages/assets/shared'),
    },
  },
  build: {
    outDir: at('../../src/blender_dp/service/dashboard'),
    emptyOutDir: true,
    target: 'es2022',
    cssTarget: 'chrome123', // light-dark() stays as it is written
    // Everything is a file of its own: the service allows nothing inline, and no data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
});
