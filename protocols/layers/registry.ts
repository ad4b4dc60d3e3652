import { unknown } from '../../core/registry.ts';
import type { Layer, LayerStage } from './layer.ts';

interface Entry {
  readonly stage: LayerStage;
  load(): Promise<Layer>;
}

/** The stage is here and not in the layer, so that a team file is checked without loading what it names. */
const layers: Readonly<Record<string, Entry>> = {
  deflate: { stage: 'compress', load: async () => (await import('./deflate.ts')).deflate },
  'deflate-dict': { stage: 'compress', load: async () => (await import('./deflate.ts')).deflateDict },
  zstd: { stage: 'compress', load: async () => (await import('./zstd.ts')).zstd },
  'zstd-dict': { stage: 'compress', load: async () => (await import('./zstd.ts')).zstdDict },
  brotli: { stage: 'compress', load: async () => (await import('./brotli.ts')).brotli },
  'brotli-dict': { stage: 'compress', load: async () => (await import('./brotli.ts')).brotliDict },
  ed25519: { stage: 'sign', load: async () => (await import('./ed25519.ts')).ed25519 },
  'chacha20-poly1305': {
    stage: 'encrypt',
    load: async () => (await import('./chacha20-poly1305.ts')).chacha20poly1305,
  },
  'aes-256-gcm': { stage: 'encrypt', load: async () => (await import('./aes-256-gcm.ts')).aes256gcm },
  crc32c: { stage: 'checksum', load: async () => (await import('./crc32c.ts')).crc32c },
};

/** In the order in which they may follow each other. */
export const layerNames: readonly string[] = Object.keys(layers);

/** @throws MeshError `usage` for a name that no layer has */
export function stageOf(name: string): LayerStage {
  return entryOf(name).stage;
}

/** @throws MeshError `usage` for a name that no layer has */
export async function layerNamed(name: string): Promise<Layer> {
  return entryOf(name).load();
}

function entryOf(name: string): Entry {
  const entry = Object.hasOwn(layers, name) ? layers[name] : undefined;
  if (entry === undefined) throw unknown('layer', name, layerNames);
  return entry;
}
