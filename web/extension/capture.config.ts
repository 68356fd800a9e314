import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The content script: browsers take no modules there, so it is one closed file. */
export default defineConfig(({ mode }) => ({
  root: at('src'),
  logLevel: 'warn',
  publicDir: false,
  build: {
    outDir: at(`dist/${mode}`),
    emptyOutDir: false,
    target: 'es2022',
    lib: {
      entry: at('src/capture.ts'),
      formats: ['iife'],
      name: 'capture',
      fileName: () => 'capture.js',
    },
  },
}));
