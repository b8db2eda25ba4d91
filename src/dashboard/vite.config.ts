// Builds the page into dist/dashboard (scripts/build.js calls this). Addresses in it are relative: a proxy may put it anywhere.
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  publicDir: false,
  logLevel: 'warn',
  build: {
    outDir: '../../dist/dashboard',
    emptyOutDir: true,
    target: 'es2022',
    // The content security policy allows no data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
