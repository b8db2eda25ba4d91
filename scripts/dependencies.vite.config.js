// Bundles the dependencies that consist of hundreds of files into one file each, in dist/node_modules (called by
// scripts/build.js). Node.js looks there first, and reading all those files took a third of the time of most commands.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vite';

const DEPENDENCIES = ['kysely', '@sinclair/typebox'];

function describePackages() {
  return {
    name: 'describe-packages',
    writeBundle({ dir }) {
      const text = JSON.stringify({ type: 'module', exports: './index.js' });
      for (const name of DEPENDENCIES) writeFileSync(join(dir, name, 'package.json'), text);
    },
  };
}

export default defineConfig({
  logLevel: 'warn',
  publicDir: false,
  plugins: [describePackages()],
  ssr: { noExternal: true },
  build: {
    ssr: true,
    minify: false,
    rolldownOptions: {
      input: Object.fromEntries(DEPENDENCIES.map((name) => [name, name])),
      output: { entryFileNames: '[name]/index.js' },
    },
  },
});
