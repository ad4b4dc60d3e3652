/** A file as text. */
interface DecodedText {
  readonly text: string;
  /** As the WHATWG Encoding Standard names it. */
  readonly encoding: string;
}

/** Marks of the order of bytes at the beginning. UTF-32 is not among them: its marks are those of UTF-16 and NULs. */
const MARKS: readonly (readonly [string, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

/** Where XML, HTML, Python and mails say it; further down it is somebody's prose. */
const DECLARED = /(?:encoding=["']|charset=["']?|coding[:=]\s*)([A-Za-z0-9_.:-]{2,40})/;
const DECLARATION_BYTES = 1024;

/** Control characters that texts do not hold; of those that they do, form feeds and terminal colours are the rarest. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\0-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]/;

/**
 * The text of `bytes`: by its byte order mark, else UTF-8, UTF-16 where every other byte is NUL, what the text declares, and
 * at last windows-1252, of which Latin-1's letters are a part. Undefined for what is no text.
 */
export function decodeText(bytes: Uint8Array): DecodedText | undefined {
  const mark = MARKS.find(([, mark]) => mark.every((byte, i) => bytes[i] === byte))?.[0];
  const encodings =
    mark === undefined ? ['utf-8', ...detectWidth(bytes), ...findDeclared(bytes), 'windows-1252'] : [mark];
  for (const encoding of encodings) {
    const text = tryDecode(bytes, encoding);
    if (text !== undefined && !CONTROL.test(text)) return { text, encoding };
  }
  return undefined;
}

function tryDecode(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    // A name that nobody knows, or bytes that are not of that encoding.
    if (error instanceof RangeError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** UTF-16 without a mark, of a text that is mostly ASCII. */
function detectWidth(bytes: Uint8Array): string[] {
  const head = bytes.subarray(0, DECLARATION_BYTES);
  if (head.length < 4 || bytes.length % 2 !== 0) return [];
  let even = 0;
  let odd = 0;
  for (const [i, byte] of head.entries()) {
    if (byte === 0) i % 2 === 0 ? even++ : odd++;
  }
  const most = head.length * 0.35;
  if (odd > most && even === 0) return ['utf-16le'];
  return even > most && odd === 0 ? ['utf-16be'] : [];
}

function findDeclared(bytes: Uint8Array): string[] {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, DECLARATION_BYTES));
  const name = DECLARED.exec(head)?.[1];
  return name === undefined ? [] : [name.toLowerCase()];
}
