import type { ProtocolAdapter } from '../core/adapter.ts';
import { registry } from '../core/registry.ts';

const adapters = registry<ProtocolAdapter>('adapter', {
  json: async () => (await import('./json.ts')).json,
  msgpack: async () => (await import('./msgpack.ts')).msgpack,
});

export const adapterNames = adapters.names;
export const adapterNamed = adapters.load;
