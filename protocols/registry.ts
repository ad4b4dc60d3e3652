import type { ProtocolAdapter } from '../core/adapter.ts';
import { registry } from '../core/registry.ts';
import { layerNamed } from './layers/registry.ts';
import { parseSpec, type StackSpec } from './spec.ts';
import { stackOf } from './stack.ts';

const adapters = registry<ProtocolAdapter>('adapter', {
  json: async () => (await import('./json.ts')).json,
  msgpack: async () => (await import('./msgpack.ts')).msgpack,
  'msgpack-records': async () => (await import('./msgpack-records.ts')).msgpackRecords,
  cbor: async () => (await import('./cbor.ts')).cbor,
  protobuf: async () => (await import('./protobuf.ts')).protobuf,
  toon: async () => (await import('./toon.ts')).toon,
  a2a: async () => (await import('./a2a.ts')).a2a,
  'a2a-proto': async () => (await import('./a2a-proto.ts')).a2aProto,
  mcp: async () => (await import('./mcp.ts')).mcp,
  anp: async () => (await import('./anp.ts')).anp,
  'anp-e2ee': async () => (await import('./anp-e2ee.ts')).anpE2ee,
});

/** Without layers; those are in `layers/registry.ts`. */
export const adapterNames = adapters.names;

/**
 * The adapter that `spec` names, with the layers that it names: `json`, `msgpack+zstd+ed25519`. `own` are adapters that the user
 * brought, by their names.
 *
 * @throws MeshError `usage` for names that nothing has, and for layers in the wrong order
 */
export async function adapterNamed(
  spec: string,
  own: readonly ProtocolAdapter[] = [],
): Promise<ProtocolAdapter> {
  const { adapter: name, layers } = parseSpec(spec, [
    ...adapters.names,
    ...own.map((adapter) => adapter.name),
  ]);
  const adapter = own.find((candidate) => candidate.name === name) ?? (await adapters.load(name));
  return stackOf(adapter, await Promise.all(layers.map(layerNamed)));
}

/** As {@link adapterNamed} judges it, and loads nothing. */
export function checkSpec(spec: string): StackSpec {
  return parseSpec(spec, adapters.names);
}
