import type { ReaderName } from './reading/readers.ts';

/** The kind of a file by its first bytes. */
interface FileKind {
  readonly kind: 'zip' | 'cfb' | 'pdf' | 'image' | 'audio' | 'other';
  /** A noun phrase for sentences: `a PDF document`. */
  readonly what: string;
  readonly reader?: ReaderName;
}

const KINDS: readonly (readonly [bytes: string, FileKind])[] = [
  ['504b0304', { kind: 'zip', what: 'a ZIP archive', reader: 'read_zip' }],
  ['504b0506', { kind: 'zip', what: 'an empty ZIP archive', reader: 'read_zip' }],
  ['d0cf11e0a1b11ae1', { kind: 'cfb', what: 'an old Office document', reader: 'read_excel' }],
  ['255044462d', { kind: 'pdf', what: 'a PDF document', reader: 'read_pdf' }],
  ['89504e470d0a1a0a', { kind: 'image', what: 'a PNG image', reader: 'analyze_image' }],
  ['ffd8ff', { kind: 'image', what: 'a JPEG image', reader: 'analyze_image' }],
  ['47494638', { kind: 'image', what: 'a GIF image', reader: 'analyze_image' }],
  ['49443303', { kind: 'audio', what: 'an MP3 recording', reader: 'understand_audio' }],
  ['49443304', { kind: 'audio', what: 'an MP3 recording', reader: 'understand_audio' }],
  ['1f8b08', { kind: 'other', what: 'gzip data' }],
  ['377abcaf271c', { kind: 'other', what: 'a 7z archive' }],
  ['526172211a07', { kind: 'other', what: 'a RAR archive' }],
  ['7f454c46', { kind: 'other', what: 'a program' }],
];

/** Returns the kind of a file by its first bytes; undefined for all others, such as texts. */
export function detectFileKind(bytes: Uint8Array): FileKind | undefined {
  const head = Buffer.from(bytes.subarray(0, 16)).toString('hex');
  return KINDS.find(([magic]) => head.startsWith(magic))?.[1];
}
