import { readFileSync } from 'node:fs';
import path from 'node:path';

/** `import { a, b } from './file.js';` or from another folder, on one line or several. */
const IMPORT = /^import \{[^}]*\} from '(\.\.?\/[\w./-]+\.js)';\n/gm;
const DECLARATION = /^(?:export )?(?:async )?(?:function|const|let|class) (\w+)/gm;

/**
 * A module and all that it imports, as one script: those imported come first, and the words `import` and `export` fall away. The
 * page's modules share one scope then, so a name at the top level of one must not come again in another.
 */
export function pageScript(folder: string, main: string): string {
  const texts = new Map<string, string>();
  const owners = new Map<string, string>();
  const include = (name: string) => {
    if (texts.has(name)) return;
    const source = readFileSync(path.join(folder, name), 'utf8');
    texts.set(name, ''); // It is on its way: modules that import each other end here.
    for (const [, imported = ''] of source.matchAll(IMPORT)) include(path.join(path.dirname(name), imported));
    for (const [, declared = ''] of source.matchAll(DECLARATION)) {
      const owner = owners.get(declared);
      if (owner !== undefined) throw new Error(`${declared} is declared in ${owner} and in ${name}`);
      owners.set(declared, name);
    }
    texts.delete(name);
    texts.set(name, source.replaceAll(IMPORT, '').replaceAll(/^export /gm, ''));
  };
  include(main);
  return [...texts].map(([name, text]) => `// ${name}\n${text}`).join('\n');
}
