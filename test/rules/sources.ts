// Reads the files of src/, and what they import, from their text.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export interface Source {
  /** Below src/, such as `profile/object.ts`. */
  path: string;
  text: string;
  imports: Import[];
}

export interface Import {
  /** A path below src/, or the name of a package. */
  target: string;
  isOwn: boolean;
  /** Gone after compilation. */
  isType: boolean;
}

const IMPORT = /^(?:import|export)\s+(type\s)?(?:[^'"]*?\sfrom\s+)?'([^']+)'/gm;
const DYNAMIC_IMPORT = /\bimport\('([^']+)'\)/g;

function readImports(path: string, text: string): Import[] {
  const found = [
    ...[...text.matchAll(IMPORT)].map(([, type, target = '']) => ({ target, isType: type !== undefined })),
    ...[...text.matchAll(DYNAMIC_IMPORT)].map(([, target = '']) => ({ target, isType: false })),
  ];
  return found.map(({ target, isType }) => {
    const isOwn = target.startsWith('.');
    return { target: isOwn ? normalize(join(dirname(path), target)) : target, isOwn, isType };
  });
}

/** Reads every TypeScript file of src/ except those of the dashboard, which is a program of its own. */
export function readSources(): Source[] {
  return readdirSync('src', { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts') && !path.startsWith('dashboard/'))
    .sort()
    .map((path) => {
      const text = readFileSync(join('src', path), 'utf8');
      return { path, text, imports: readImports(path, text) };
    });
}

/** Returns the folder of a path below src/; for a file in src/ itself, its name. */
export function folderOf(path: string): string {
  return path.split('/', 1)[0] ?? path;
}
