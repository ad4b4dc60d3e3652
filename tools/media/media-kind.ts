import type { ChatImage } from '@gaia-mesh/core/contracts/engine.ts';

/** The format of a file by its first bytes; its name may be wrong. */
type ImageKind = 'png' | 'jpeg' | 'gif' | 'webp' | 'bmp';
export type AudioKind = 'mp3' | 'wav' | 'flac' | 'ogg' | 'm4a' | 'webm';

export const IMAGE_TYPES: Readonly<Record<ImageKind, string>> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  bmp: 'image/bmp',
};

/** Image types that models accept. */
const SHOWN_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;

/** Converts an image for a model; undefined if models do not take its type. */
export function toChatImage(bytes: Uint8Array, type: string): ChatImage | undefined {
  const mediaType = SHOWN_TYPES.find((known) => known === type);
  return mediaType && { mediaType, base64: encodeBase64(bytes) };
}

export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

export function detectImageKind(bytes: Uint8Array): ImageKind | undefined {
  const head = decodeLatin1Head(bytes);
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (head.startsWith('\xff\xd8\xff')) return 'jpeg';
  if (/^GIF8[79]a/.test(head)) return 'gif';
  if (/^RIFF.{4}WEBP/s.test(head)) return 'webp';
  return head.startsWith('BM') ? 'bmp' : undefined;
}

export function detectAudioKind(bytes: Uint8Array): AudioKind | undefined {
  const head = decodeLatin1Head(bytes);
  if (/^RIFF.{4}WAVE/s.test(head)) return 'wav';
  if (head.startsWith('fLaC')) return 'flac';
  if (head.startsWith('OggS')) return 'ogg';
  if (head.slice(4, 8) === 'ftyp') return 'm4a';
  if (head.startsWith('\x1aE\xdf\xa3')) return 'webm';
  // An MP3 file begins with a tag, or at once with the mark of a frame.
  return head.startsWith('ID3') || /^\xff[\xe2-\xe7\xf2-\xff]/.test(head) ? 'mp3' : undefined;
}

/**
 * Returns width times height if the file's header has them in a fixed place; otherwise undefined. A few bytes can claim an image that
 * fills the memory when it is unpacked.
 */
export function countPixels(bytes: Uint8Array, kind: ImageKind): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 26) return 0;
  switch (kind) {
    case 'png':
      return view.getUint32(16) * view.getUint32(20);
    case 'gif':
      return view.getUint16(6, true) * view.getUint16(8, true);
    case 'bmp':
      // The height is negative where rows go down.
      return Math.abs(view.getInt32(18, true) * view.getInt32(22, true));
    case 'jpeg':
    case 'webp':
      return undefined;
  }
}

function decodeLatin1Head(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, 16));
}
