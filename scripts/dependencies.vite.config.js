// Builds the dependencies that come in hundreds of files into dist/node_modules, each as one file (scripts/build.js calls this).
// Node.js looks there first, and reading all of those files was a third of the time of most commands.
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
