import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';

/** Returns the maker of the error for a body that is too large, which names it. */
export function tooLarge(what: string, maxBytes: number): () => MeshError {
  return () => new MeshError('tool', `${what} is larger than ${formatMegabytes(maxBytes)}: not read`);
}

export function formatMegabytes(bytes: number): string {
  return bytes < 1_000_000 ? `${bytes} bytes` : `${Math.round(bytes / 100_000) / 10} MB`;
}
