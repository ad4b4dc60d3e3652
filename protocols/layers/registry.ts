import { createUnknownError } from '@gaia-mesh/core/contracts/registry.ts';
import type { Layer } from './layer.ts';

interface Entry {
  readonly stage: 'compress' | 'sign' | 'encrypt' | 'checksum';
  load(): Promise<Layer>;
}

/**
 * The layers by name, in the order that their stages have in every stack, at most one of each: compressed bytes
 * are signed, signed bytes are encrypted, and a checksum is outermost, so that a receiver checks the whole before
 * it reads the parts. The stages are here and not in the layers, so that a team file is checked without loading
 * them.
 */
const layers: Readonly<Record<string, Entry>> = {
  deflate: { stage: 'compress', load: () => loadCompression('deflate') },
  'deflate-dict': { stage: 'compress', load: () => loadCompression('deflate', true) },
  zstd: { stage: 'compress', load: () => loadCompression('zstd') },
  'zstd-dict': { stage: 'compress', load: () => loadCompression('zstd', true) },
  brotli: { stage: 'compress', load: () => loadCompression('brotli') },
  'brotli-dict': { stage: 'compress', load: () => loadCompression('brotli', true) },
  ed25519: { stage: 'sign', load: async () => (await import('./ed25519.ts')).ed25519 },
  'chacha20-poly1305': { stage: 'encrypt', load: () => loadAead('chacha20-poly1305') },
  'aes-256-gcm': { stage: 'encrypt', load: () => loadAead('aes-256-gcm') },
  crc32c: { stage: 'checksum', load: async () => (await import('./crc32c.ts')).crc32c },
};

async function loadCompression(
  format: 'deflate' | 'zstd' | 'brotli',
  withDictionary = false,
): Promise<Layer> {
  const { createCompressionLayer, dictionaryV1 } = await import('./compression.ts');
  return createCompressionLayer(format, withDictionary ? dictionaryV1 : undefined);
}

async function loadAead(name: 'chacha20-poly1305' | 'aes-256-gcm'): Promise<Layer> {
  return (await import('./aead.ts')).createAeadLayer(name);
}

/** Names of the layers, in the order in which they may follow each other. */
export const layerNames: readonly string[] = Object.keys(layers);

/** @throws MeshError `usage` for an unknown name */
export function findStage(name: string): Entry['stage'] {
  return findEntry(name).stage;
}

/** @throws MeshError `usage` for an unknown name */
export async function loadLayer(name: string): Promise<Layer> {
  return findEntry(name).load();
}

function findEntry(name: string): Entry {
  const entry = Object.hasOwn(layers, name) ? layers[name] : undefined;
  if (entry === undefined) throw createUnknownError('layer', name, layerNames);
  return entry;
}
