import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const folder = fileURLToPath(new URL('./page/', import.meta.url));
const STYLES = ['page.css', 'table.css', 'chart.css', 'sequence.css', 'gaia.css', 'stacks.css', 'watch.css'];
/** The class of every chart: Plot writes it into a style sheet of its own, which the page's policy must know. */
const CHART_CLASS = 'chart';

/** A page as text, and the policy that it works under, which stands in it, too. */
interface Page {
  readonly html: string;
  readonly policy: string;
}

/**
 * A page: skeleton, style, the two libraries, the page's own script and the data, in one file. Its policy allows just these
 * texts, by their hashes: whatever the data says, nothing else runs and nothing is loaded.
 *
 * @param main its script, among those of the pages
 * @param asks it asks the server that it came from for more; one from a file has nobody to ask
 */
export function buildPage(data: unknown, main: string, asks: boolean): Page {
  const style = STYLES.map((name) => readFileSync(path.join(folder, 'style', name), 'utf8')).join('\n');
  const plot = readPackageFile(
    '@observablehq/plot',
    require.resolve('@observablehq/plot'),
    'dist/plot.umd.min.js',
  );
  const libraries = [readPackageFile('d3', require.resolve('d3'), 'dist/d3.min.js'), plot];
  const script = bundlePageScript(folder, main);
  const policy = [
    "default-src 'none'",
    `script-src ${[...libraries, script].map(hashSource).join(' ')}`,
    `style-src ${[style, extractPlotStyle(plot)].map(hashSource).join(' ')}`,
    ...(asks ? ["connect-src 'self'"] : []),
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const parts: Readonly<Record<string, string>> = {
    POLICY: policy,
    '<!-- STYLE -->': `<style>${style}</style>`,
    '<!-- DATA -->': `<script type="application/json" id="data">${formatEmbeddedJson(data)}</script>`,
    '<!-- SCRIPTS -->': [
      ...libraries.map((text) => `<script>${checkScriptText(text)}</script>`),
      `<script type="module">${checkScriptText(script)}</script>`,
    ].join('\n'),
  };
  const skeleton = readFileSync(path.join(folder, 'page.html'), 'utf8');
  // In one go: what is put in may say POLICY, too.
  const html = skeleton.replaceAll(/POLICY|<!-- [A-Z]+ -->/g, (place) => parts[place] ?? place);
  return { html, policy };
}

function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** Our own texts and the libraries hold none of these; one that did would end its element early. */
function checkScriptText(text: string): string {
  if (/<\/script|<!--/i.test(text)) throw new Error('a script of the page holds </script or <!--');
  return text;
}

/** The style sheet that Plot puts into every chart, as it stands in its code. */
function extractPlotStyle(plot: string): string {
  const template = /`(:where\(\.\$\{\w+\}\) \{\\n {2}--plot-background[^`]*)`/.exec(plot)?.[1];
  if (template === undefined)
    throw new Error('the style sheet of a chart was not found in @observablehq/plot');
  return template.replaceAll(/\$\{\w+\}/g, CHART_CLASS).replaceAll('\\n', '\n');
}

/** A file of the package that has `main` in it, whatever the package exports. */
function readPackageFile(name: string, main: string, file: string): string {
  const inside = path.join('node_modules', name) + path.sep;
  const end = main.lastIndexOf(inside) + inside.length;
  return readFileSync(path.join(main.slice(0, end), file), 'utf8');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/**
 * A value as JSON that can stand in a `<script>` element whatever its texts say: without `<` there is no end of the element, no
 * comment and no other element in it. It parses to the same value.
 */
export function formatEmbeddedJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[<\u2028\u2029]/g, (character) => ESCAPES[character] ?? character);
}

/** `import { a, b } from './file.js';` or from another folder, on one line or several. */
const IMPORT = /^import \{[^}]*\} from '(\.\.?\/[\w./-]+\.js)';\n/gm;
const DECLARATION = /^(?:export )?(?:async )?(?:function|const|let|class) (\w+)/gm;

/**
 * A module and all that it imports, as one script: those imported come first, and the words `import` and `export` fall away. The
 * page's modules share one scope then, so a name at the top level of one must not come again in another.
 */
export function bundlePageScript(folder: string, main: string): string {
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
