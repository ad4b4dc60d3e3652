import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { describeMaking } from '../plan/making.ts';
import type { PageContent, PageOrigin } from './page-data.ts';

/** The page that the build has made of `evaluation/viewer`, without data. */
const PAGE = fileURLToPath(new URL('../../dist/viewer.html', import.meta.url));
/** Marks of the data, and of those that the page reads when they are opened: it draws the first before it has the others. */
const MARKS = /<!-- (DATA|LATER) -->/g;
const NO_REQUESTS = "connect-src 'none'";

/** The text of a page, and its content security policy, which the text also contains. */
interface Page {
  readonly html: string;
  readonly policy: string;
}

/**
 * Puts data into the page. The page's policy allows only its own script and style, by their hashes, so that no text in the data can
 * run. A live page requests more from its own server, and other pages load nothing.
 *
 * @param isListed true if the page belongs to the list of a folder
 */
export function fillPage(content: PageContent, isListed = false): Page {
  const origin: PageOrigin = {
    ...describeMaking(),
    version: packageVersion,
    madeAt: new Date().toISOString(),
    isListed,
  };
  const template = readFileSync(PAGE, 'utf8');
  const [, given = ''] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(template) ?? [];
  const policy = content.kind === 'live' ? given.replace(NO_REQUESTS, "connect-src 'self'") : given;
  const [data, later] =
    content.kind === 'run'
      ? [{ ...content, run: { ...content.run, details: [] } }, content.run.details]
      : [content, []];
  const parts: Readonly<Record<string, string>> = {
    DATA: formatElement('data', { ...data, ...origin }),
    LATER: formatElement('later', later),
  };
  const html = template
    .replace(given, () => policy)
    .replaceAll(MARKS, (_, name: string) => parts[name] ?? '');
  return { html, policy };
}

function formatElement(id: string, value: unknown): string {
  return `<script type="application/json" id="${id}">${formatEmbeddedJson(value)}</script>`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/**
 * Formats a value as JSON that is safe in a `<script>` element: without `<`, no text in it can end the element or begin a comment or
 * another element. It parses to the same value.
 */
function formatEmbeddedJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[<\u2028\u2029]/g, (character) => ESCAPES[character] ?? character);
}
