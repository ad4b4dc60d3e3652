import type { ChatImage } from '@gaia-mesh/core/contracts/engine.ts';

/** Image types that models accept. */
const SHOWN_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;

/** Converts an image for a model; undefined if models do not take its type. */
export function toChatImage(bytes: Uint8Array, type: string): ChatImage | undefined {
  const mediaType = SHOWN_TYPES.find((known) => known === type);
  return mediaType && { mediaType, base64: Buffer.from(bytes).toString('base64') };
}
