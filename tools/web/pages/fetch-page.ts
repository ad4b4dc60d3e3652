import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { JOB_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { readBytes } from '@gaia-mesh/core/system/limit-bytes.ts';
import * as z from 'zod';
import type { DataTool } from '../../data-tool.ts';
import { readConfined } from '../../files/read-confined.ts';
import { stripFileLine } from '../../files/reading/reading.ts';
import { tooLarge } from '../bounded-body.ts';
import { fetchPublic, type PublicReply } from '../public-fetch.ts';
import { extractText } from './page-text.ts';

const FETCH_TIMEOUT_MS = 40_000;
/** Maximum bytes of a page; the longest pages for people have some megabytes of markup. */
const MAX_PAGE_BYTES = 5 * 1024 * 1024;
const MAX_PDF_BYTES = 20 * 1024 * 1024;
/** Maximum characters of the text, some 15 000 tokens: models do not read more attentively. */
const MAX_TEXT_CHARACTERS = 60_000;

const input = z.strictObject({
  url: z.string().min(1),
});

export const fetchPage: DataTool<z.infer<typeof input>> = {
  name: 'fetch_page',
  description: 'Reads a page on the web, or a text or PDF.',
  input,
  async run({ url }, { environment, signal }) {
    const options = { environment, signal, timeoutMs: FETCH_TIMEOUT_MS };
    const page = await fetchPublic(url, options, async (reply) => {
      const most = isPdf(reply) ? MAX_PDF_BYTES : MAX_PAGE_BYTES;
      return { reply, bytes: await readBytes(reply.body, most, tooLarge(reply.url, most)) };
    });
    const text =
      (await extractPageText(page.reply, page.bytes, signal)) ||
      '(the page has no text; it may need a browser)';
    const left = text.length - MAX_TEXT_CHARACTERS;
    const cut =
      left > 0
        ? `${text.slice(0, MAX_TEXT_CHARACTERS).toWellFormed()}\n[cut: ${left} or more characters]`
        : text;
    return { text: `${page.reply.url}\n\n${cut}`, data: { url: page.reply.url, characters: text.length } };
  },
};

const isPdf = ({ mediaType }: PublicReply) => mediaType === 'application/pdf';

async function extractPageText(reply: PublicReply, bytes: Buffer, signal: AbortSignal): Promise<string> {
  const { mediaType, charset } = reply;
  if (isPdf(reply) || bytes.subarray(0, 5).toString('latin1') === '%PDF-')
    return readPdf(reply.url, bytes, signal);
  const isUnnamed = mediaType === '' || mediaType === 'application/octet-stream';
  const isText =
    mediaType.startsWith('text/') ||
    /(^application\/|\+)(json|xml|javascript|x-ndjson|yaml|x-yaml)$/.test(mediaType);
  if (!isText && !(isUnnamed && !bytes.includes(0))) {
    throw new MeshError(
      'tool',
      `${reply.url} is ${mediaType || 'not text'}, not a page: download_file saves it`,
    );
  }
  const text = decodeBody(bytes, charset);
  const isHtml = /^(text\/html|application\/xhtml\+xml)$/.test(mediaType);
  const looksLikeHtml = isUnnamed && /^\s*(<!doctype html|<html)/i.test(text);
  return isHtml || looksLikeHtml ? extractText(text, MAX_TEXT_CHARACTERS, signal) : text.trim();
}

async function readPdf(url: string, bytes: Buffer, signal: AbortSignal): Promise<string> {
  try {
    const file = { name: url, bytes: new Uint8Array(bytes) };
    const { text } = await readConfined(file, { kind: 'pdf' }, signal, JOB_LIMITS.webPdf);
    return stripFileLine(text).trim();
  } catch (cause) {
    if (!(cause instanceof MeshError)) throw cause;
    throw new MeshError('tool', `${cause.message}; download_file saves it as it is`, { cause });
  }
}

/** Decodes by the byte order mark, the header, the page's own declaration, else as UTF-8, else as windows-1252, like browsers. */
function decodeBody(bytes: Buffer, charset: string | undefined): string {
  const head = bytes.subarray(0, 1024).toString('latin1');
  const own =
    /<meta[^>]+charset\s*=\s*["']?([A-Za-z0-9_-]+)|<\?xml[^>]+encoding\s*=\s*["']([A-Za-z0-9_-]+)/i.exec(
      head,
    );
  const mark = head.startsWith('\xff\xfe')
    ? 'utf-16le'
    : head.startsWith('\xfe\xff')
      ? 'utf-16be'
      : undefined;
  const isUtf8Mark = head.startsWith('\xef\xbb\xbf');
  const named = isUtf8Mark ? 'utf-8' : (mark ?? charset ?? own?.[1] ?? own?.[2]);
  const text = named === undefined ? undefined : tryDecode(named, bytes);
  if (text !== undefined) return text;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return new TextDecoder('windows-1252').decode(bytes);
    throw error;
  }
}

function tryDecode(name: string, bytes: Buffer): string | undefined {
  try {
    return new TextDecoder(name).decode(bytes);
  } catch (error) {
    // A page may name an unknown encoding.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
