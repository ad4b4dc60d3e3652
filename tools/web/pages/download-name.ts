import path from 'node:path';

/** Maximum bytes of a name: file systems take 255, and a number may be appended. */
const MAX_NAME_BYTES = 120;
/** Maximum characters considered, from the end, which has the extension. */
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
 * Returns a safe file name from one that a model, a server or a URL supplied: its last part, without anything that a path, a
 * shell or a terminal could misread, not hidden, not too long; `download` if nothing is left (RA-52).
 */
export function toSafeName(name: string): string {
  const last = name.split(/[/\\]/).findLast((part) => part !== '') ?? '';
  const clean = last
    .slice(-MAX_CHARACTERS)
    .normalize('NFC')
    .replace(/[^\p{L}\p{N} ._()+,=@-]/gu, '_')
    // The name must not be hidden, nor `..`, nor look like a command's option, nor end in characters that Windows drops.
    .replace(/^[.\s-]+|[.\s]+$/g, '');
  const extension = path.extname(clean).slice(0, 12);
  let stem = clean.slice(0, clean.length - path.extname(clean).length);
  while (Buffer.byteLength(stem + extension) > MAX_NAME_BYTES) stem = stem.slice(0, -1).toWellFormed();
  return stem.replace(/[_\s]/g, '') === '' && extension === '' ? 'download' : stem + extension;
}

/** Chooses a file name from the server's headers and the URL. */
export function chooseDownloadName(url: string, mediaType: string, disposition: string | undefined): string {
  const said = parseDisposition(disposition ?? '') ?? takeLastPart(url);
  const name = toSafeName(said);
  const extension = EXTENSIONS[mediaType];
  return path.extname(name) === '' && extension !== undefined ? name + extension : name;
}

/** Parses the header: `filename*` is the exact name (RFC 6266), `filename` is for old clients. */
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
    // A lone % is part of the name.
    if (error instanceof URIError) return text;
    throw error;
  }
}
