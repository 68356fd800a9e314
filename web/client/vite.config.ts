import { defineConfig } from 'vite';

/** One minified file without dependencies, beside the types that `tsc` writes. */
export default defineConfig({
  build: {
    target: 'es2022',
    rolldownOptions: { output: { minify: true } },
    emptyOutDir: false,
    lib: { entry: 'src/index.ts', formats: ['es'], fileName: () => 'blender-dp-client.js' },
  },
});
