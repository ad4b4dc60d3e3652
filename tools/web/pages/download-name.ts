import path from 'node:path';

/** File systems take 255 bytes; a number may be put behind it. */
const MAX_NAME_BYTES = 120;
/** Of what is looked at; the end has the extension. */
const MAX_CHARACTERS = 500;

const EXTENSIONS: Readonly<Record<string, string>> = {
  'text/html': '.html',
  'text/plain': '.txt',
  'text/csv': '.csv',
  'application/json': '.json',
  'application/pdf': '.pdf',
  'application/zip': '.zip',
  'application/xml': '.xml',
  'text/xml': '.xml',
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'image/gif': '.gif',
  'image/webp': '.webp',
  'audio/mpeg': '.mp3',
  'audio/wav': '.wav',
  'video/mp4': '.mp4',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': '.xlsx',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': '.docx',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': '.pptx',
};

/**
 * A name for a file, out of one that a model, a server or an address came up with: its last part, with nothing that a path, a
 * shell or a terminal could misread, not hidden, not too long; `download` where nothing is left (RA-52).
 */
export function toSafeName(name: string): string {
  const last = name.split(/[/\\]/).findLast((part) => part !== '') ?? '';
  const clean = last
    .slice(-MAX_CHARACTERS)
    .normalize('NFC')
    .replace(/[^\p{L}\p{N} ._()+,=@-]/gu, '_')
    // Neither hidden, nor `..`, nor an option of some command, nor what Windows drops.
    .replace(/^[.\s-]+|[.\s]+$/g, '');
  const extension = path.extname(clean).slice(0, 12);
  let stem = clean.slice(0, clean.length - path.extname(clean).length);
  while (Buffer.byteLength(stem + extension) > MAX_NAME_BYTES) stem = stem.slice(0, -1).toWellFormed();
  return stem.replace(/[_\s]/g, '') === '' && extension === '' ? 'download' : stem + extension;
}

/** What a server and an address say about a file's name, for when nobody else does. */
export function chooseDownloadName(url: string, mediaType: string, disposition: string | undefined): string {
  const said = parseDisposition(disposition ?? '') ?? takeLastPart(url);
  const name = toSafeName(said);
  const extension = EXTENSIONS[mediaType];
  return path.extname(name) === '' && extension !== undefined ? name + extension : name;
}

/** `filename*` is the exact one (RFC 6266), `filename` what old clients get. */
function parseDisposition(disposition: string): string | undefined {
  const exact = /filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(disposition)?.[1];
  if (exact !== undefined) return tryDecodeUri(exact);
  const plain = /filename\s*=\s*(?:"([^"]*)"|([^;\s]+))/i.exec(disposition);
  return plain?.[1] ?? plain?.[2];
}

function takeLastPart(url: string): string {
  const { pathname = '' } = URL.parse(url) ?? {};
  return tryDecodeUri(pathname.split('/').findLast((part) => part !== '') ?? '');
}

function tryDecodeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    // A lone % is part of a name.
    if (error instanceof URIError) return text;
    throw error;
  }
}
