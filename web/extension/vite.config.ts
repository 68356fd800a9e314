import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';
import { type Browser, manifest } from './manifest.js';
import own from './package.json' with { type: 'json' };

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Writes the manifest of the browser that is built for. */
function writesManifest(browser: Browser): Plugin {
  return {
    name: 'manifest',
    generateBundle() {
      const source = `${JSON.stringify(manifest(browser, own.version, process.env.HOMEPAGE), null, 2)}\n`;
      this.emitFile({ type: 'asset', fileName: 'manifest.json', source });
    },
  };
}

/** The worker and the pages; `--mode` is the browser. */
export default defineConfig(({ mode }) => ({
  root: at('src'),
  base: './',
  publicDir: at('public'),
  logLevel: 'warn',
  resolve: {
    alias: {
      '@blender-dp/client': at('../client/src/index.ts'),
      '@blender-dp/pages': at('../../src/blender_dp/pages/assets/shared'),
    },
  },
  plugins: [writesManifest(mode === 'firefox' ? 'firefox' : 'chromium')],
  build: {
    outDir: at(`dist/${mode}`),
    emptyOutDir: true,
    target: 'es2022',
    cssTarget: 'chrome123', // light-dark() stays as it is written
    assetsInlineLimit: 0, // the policy allows no data: addresses
    modulePreload: false,
    rolldownOptions: {
      input: [
        at('src/popup.html'),
        at('src/options.html'),
        at('src/privacy.html'),
        at('src/welcome.html'),
        at('src/worker.ts'),
      ],
      output: { entryFileNames: '[name].js' },
    },
  },
}));
