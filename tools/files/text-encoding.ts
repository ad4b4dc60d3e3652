/** A file as text. */
interface DecodedText {
  readonly text: string;
  /** The encoding's name in the WHATWG Encoding Standard. */
  readonly encoding: string;
}

/** Byte order marks. UTF-32 has none here: its marks are those of UTF-16 and NULs. */
const MARKS: readonly (readonly [string, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

/** Matches an encoding's name where XML, HTML, Python and mails declare it; further down it is prose. */
const DECLARED = /(?:encoding=["']|charset=["']?|coding[:=]\s*)([A-Za-z0-9_.:-]{2,40})/;
const DECLARATION_BYTES = 1024;

/** Control characters that texts do not contain. Form feeds and terminal colours, which are rare, are allowed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters
const CONTROL = /[\0-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]/;

/**
 * Decodes `bytes` by their byte order mark, otherwise as UTF-8, as UTF-16 when every other byte is NUL, as the encoding
 * that the text declares, and at last as windows-1252, which includes the letters of Latin-1. Returns undefined for a
 * file that is not text.
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
    // The encoding's name is unknown, or the bytes are not in that encoding.
    if (error instanceof RangeError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Detects UTF-16 without a mark in a text that is mostly ASCII. */
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
