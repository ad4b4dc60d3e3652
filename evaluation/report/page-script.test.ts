import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { expect, test } from 'vitest';
import { bundlePageScript } from './page-html.ts';

/** A folder with these modules. */
function folderOf(modules: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(modules)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  return folder;
}

test('modules become one script, each once, those imported before those that import them', () => {
  const folder = folderOf({
    'main.js': "import { b } from './b.js';\nimport {\n  c,\n} from './c.js';\nb(c);\n",
    'b.js': "import { c } from './c.js';\nexport function b() {\n  return c;\n}\n",
    'c.js': 'export const c = 1;\n',
  });

  expect(bundlePageScript(folder, 'main.js')).toBe(
    '// c.js\nconst c = 1;\n\n// b.js\nfunction b() {\n  return c;\n}\n\n// main.js\nb(c);\n',
  );
});

test('modules of folders are found from where they are asked for, and come once', () => {
  const folder = folderOf({
    'main.js': "import { a } from './a.js';\nimport { b } from './inner/b.js';\na(b);\n",
    'a.js': 'export const a = 1;\n',
    'inner/b.js': "import { a } from '../a.js';\nimport { c } from './c.js';\nexport const b = a + c;\n",
    'inner/c.js': 'export const c = 2;\n',
  });

  const script = bundlePageScript(folder, 'main.js');

  expect(script.match(/^\/\/ .*$/gm)).toEqual(['// a.js', '// inner/c.js', '// inner/b.js', '// main.js']);
  expect(script).not.toContain('import');
});

test('a name that two modules declare is refused', () => {
  const folder = folderOf({
    'main.js': "import { b } from './b.js';\nconst WIDE = b;\n",
    'b.js': 'const WIDE = 1;\nexport const b = WIDE;\n',
  });

  expect(() => bundlePageScript(folder, 'main.js')).toThrow('WIDE is declared in b.js and in main.js');
});
