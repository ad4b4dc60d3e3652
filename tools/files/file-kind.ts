import type { ReaderName } from './reading/readers.ts';

/** The kind of a file by its first bytes; its name may be wrong. */
type FileKind = {
  /** A noun phrase for sentences: `a PDF document`. */
  readonly what: string;
  readonly reader?: ReaderName;
} & (
  | { readonly kind: 'zip' | 'cfb' | 'pdf' | 'other' }
  | {
      readonly kind: 'image' | 'audio';
      /** Its usual extension. */
      readonly format: string;
      readonly mediaType: string;
    }
);

const describeImage = (format: string, name: string): FileKind => ({
  kind: 'image',
  what: `${name} image`,
  reader: 'analyze_image',
  format,
  mediaType: `image/${format}`,
});

const describeAudio = (format: string, name: string, type = format): FileKind => ({
  kind: 'audio',
  what: `${name} recording`,
  reader: 'understand_audio',
  format,
  mediaType: `audio/${type}`,
});

/** Kinds by the first bytes in hexadecimal digits; each pattern is so long that no text begins with it by chance. */
const KINDS: readonly (readonly [RegExp, FileKind])[] = [
  [/^504b0304/, { kind: 'zip', what: 'a ZIP archive', reader: 'read_zip' }],
  [/^504b0506/, { kind: 'zip', what: 'an empty ZIP archive', reader: 'read_zip' }],
  [/^d0cf11e0a1b11ae1/, { kind: 'cfb', what: 'an old Office document', reader: 'read_excel' }],
  [/^255044462d/, { kind: 'pdf', what: 'a PDF document', reader: 'read_pdf' }],
  [/^89504e470d0a1a0a/, describeImage('png', 'a PNG')],
  [/^ffd8ff/, describeImage('jpeg', 'a JPEG')],
  [/^474946383[79]61/, describeImage('gif', 'a GIF')],
  [/^52494646.{8}57454250/, describeImage('webp', 'a WebP')],
  // The four zeros are reserved.
  [/^424d.{8}0{8}/, describeImage('bmp', 'a BMP')],
  [/^52494646.{8}57415645/, describeAudio('wav', 'a WAV')],
  [/^664c6143/, describeAudio('flac', 'a FLAC')],
  [/^4f676753/, describeAudio('ogg', 'an Ogg')],
  [/^00.{6}66747970/, describeAudio('m4a', 'an MP4', 'mp4')],
  [/^1a45dfa3/, describeAudio('webm', 'a WebM')],
  // An MP3 file begins with a tag, or at once with a frame of layer III.
  [/^4944330[2-4]|^ff(?:e[23]|f[23ab])/, describeAudio('mp3', 'an MP3')],
  [/^1f8b08/, { kind: 'other', what: 'gzip data' }],
  [/^377abcaf271c/, { kind: 'other', what: 'a 7z archive' }],
  [/^526172211a07/, { kind: 'other', what: 'a RAR archive' }],
  [/^7f454c46/, { kind: 'other', what: 'a program' }],
];

/** Returns the kind of a file by its first bytes; undefined for all others, such as texts. */
export function detectFileKind(bytes: Uint8Array): FileKind | undefined {
  const head = Buffer.from(bytes.subarray(0, 16)).toString('hex');
  return KINDS.find(([pattern]) => pattern.test(head))?.[1];
}
