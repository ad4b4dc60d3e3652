import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { JOB_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { defineJob, runJob } from '@gaia-mesh/core/system/process/jobs.ts';

/** Maximum elements that the converter gets at once: its time grows with their square. */
const PIECE_ELEMENTS = 200;
/** Maximum depth of a page. Deeper pages overflow the stack of some library; pages for people are not half as deep. */
const MAX_DEPTH = 250;
const MAX_ELEMENTS = 100_000;
/** Minimum part of the page's text that an article must have: the extraction takes lists and tables for decoration. */
const MIN_ARTICLE_PART = 0.25;

/** Converts a page's article to Markdown; if that fails returns the page's text, and if that fails, too, the text between tags. */
export async function extractText(
  html: string,
  maxCharacters: number,
  signal: AbortSignal,
  ms: number = JOB_LIMITS.page.ms,
): Promise<string> {
  for (const job of [toMarkdown, toPlainText]) {
    const outcome = await runJob(job, { html, maxCharacters }, { ...JOB_LIMITS.page, ms }, { signal });
    if ('answer' in outcome && outcome.answer.trim() !== '') return outcome.answer.trim();
    if (signal.aborted) throw new MeshError('tool', 'stopped, the task has ended');
  }
  return stripTags(html, maxCharacters);
}

/** Returns the text of a page that no parser reads in time. Its own time is proportional to the page's length. */
function stripTags(html: string, maxCharacters: number): string {
  const head = html.slice(0, 20 * maxCharacters);
  return removeElements('style', removeElements('script', head))
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, maxCharacters);
}

/** Removes the elements of that name; an unclosed one takes the rest with it, as in browsers. */
function removeElements(name: string, html: string): string {
  const lower = html.toLowerCase();
  const kept: string[] = [];
  for (let from = 0; ; ) {
    const start = lower.indexOf(`<${name}`, from);
    kept.push(html.slice(from, start === -1 ? undefined : start));
    const end = start === -1 ? -1 : lower.indexOf(`</${name}`, start);
    if (end === -1) return kept.join(' ');
    from = end;
  }
}

interface Page {
  readonly html: string;
  readonly maxCharacters: number;
}

async function convertMarkdown({ html, maxCharacters }: Page): Promise<string> {
  const [{ parseHTML }, { Readability }, { NodeHtmlMarkdown }] = await Promise.all([
    import('linkedom'),
    import('@mozilla/readability'),
    import('node-html-markdown'),
  ]);
  const { document } = parseHTML(html);
  // linkedom returns a document without a body if the text is not a page.
  const body = document.body ?? document.documentElement;
  if (body === null || !isTame(body)) throw new Error('too deep or too large');
  for (const noise of body.querySelectorAll('script, style, noscript, template, svg, iframe')) noise.remove();
  const title = document.title.replace(/\s+/g, ' ').trim();
  const textLength = (text: string | null | undefined) => (text ?? '').replace(/\s+/g, ' ').trim().length;
  const whole = textLength(body.textContent);
  // Readability empties the document that it is given.
  const article = new Readability(parseHTML(html).document).parse();
  const isArticle = textLength(article?.textContent) >= whole * MIN_ARTICLE_PART;
  const content =
    isArticle && article?.content
      ? parseHTML(`<html><body>${article.content}</body></html>`).document.body
      : body;
  const converter = new NodeHtmlMarkdown({ ignore: ['script', 'style', 'noscript'] });
  const parts = title === '' ? [] : [`# ${title}`];
  let length = 0;
  for (const piece of splitBlocks(content)) {
    const text = converter.translate(piece).trim();
    if (text === '') continue;
    parts.push(text);
    length += text.length;
    if (length > maxCharacters) break;
  }
  return length === 0 ? '' : parts.join('\n\n');
}

interface Element {
  readonly outerHTML: string;
  readonly localName: string;
  readonly childNodes: Iterable<Node>;
  readonly children: ArrayLike<Element> & Iterable<Element>;
  getElementsByTagName(name: string): { readonly length: number };
}
interface Node {
  readonly nodeType: number;
  readonly textContent: string | null;
}

/** Returns true if a page is neither too deep nor too large; it does not recurse, because depth is the danger. */
function isTame(root: Element): boolean {
  let level: Element[] = [root];
  let count = 0;
  for (let depth = 0; level.length > 0; depth++) {
    count += level.length;
    if (depth > MAX_DEPTH || count > MAX_ELEMENTS) return false;
    level = level.flatMap((element) => [...element.children]);
  }
  return true;
}

const CONTAINERS = new Set([
  'body',
  'div',
  'section',
  'article',
  'main',
  'header',
  'footer',
  'aside',
  'nav',
  'html',
]);

/** Yields the HTML of the page's blocks in order; together they are the page. */
function* splitBlocks(root: Element): Generator<string, void, void> {
  const isSmall = root.getElementsByTagName('*').length <= PIECE_ELEMENTS;
  if (isSmall || !CONTAINERS.has(root.localName)) {
    yield root.outerHTML;
    return;
  }
  // Small neighbours stay together: a text may be split into many of them.
  let small = '';
  let elements = 0;
  for (const node of root.childNodes) {
    const child = isElement(node) ? node : undefined;
    const size = child === undefined ? 1 : 1 + child.getElementsByTagName('*').length;
    if (elements + size > PIECE_ELEMENTS && small !== '') {
      yield small;
      [small, elements] = ['', 0];
    }
    if (child !== undefined && size > PIECE_ELEMENTS) yield* splitBlocks(child);
    else {
      small +=
        child === undefined
          ? escapeHtml(node.nodeType === 3 ? (node.textContent ?? '') : '')
          : child.outerHTML;
      elements += size;
    }
  }
  if (small !== '') yield small;
}

function isElement(node: Node): node is Node & Element {
  return node.nodeType === 1;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/**
 * Converts a page to plain text. Nesting that is too deep overflows the stack and ends this process, since a limit would silently cut
 * off the inner text.
 */
async function convertPlain({ html, maxCharacters }: Page): Promise<string> {
  const { convert } = await import('html-to-text');
  return convert(html.slice(0, 20 * maxCharacters), {
    wordwrap: false,
    limits: { maxInputLength: html.length },
    selectors: [
      { selector: 'img', format: 'skip' },
      { selector: 'a', options: { ignoreHref: true } },
    ],
  });
}

const program = new URL('./page-text.ts', import.meta.url);
const toMarkdown = defineJob(program, 'page-markdown', async () => convertMarkdown, { blamesInput: true });
const toPlainText = defineJob(program, 'page-plain', async () => convertPlain, { blamesInput: true });
