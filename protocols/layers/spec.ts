import { MeshError } from '../../core/contracts/errors.ts';
import { unknown } from '../../core/contracts/registry.ts';
import { LAYER_STAGES } from './layer.ts';
import { layerNames, stageOf } from './registry.ts';

/** An adapter and the layers around it, innermost first: what `msgpack+zstd+ed25519` says. */
export interface StackSpec {
  readonly adapter: string;
  readonly layers: readonly string[];
}

const ORDER = `ADAPTER, then at most one layer of each stage in the order ${LAYER_STAGES.join(', ')}`;

/**
 * Reads the names of a stack and checks that they exist and stand in order. Loads nothing.
 *
 * @throws MeshError `usage` with the right order and the names that are known
 */
export function parseSpec(spec: string, adapterNames: readonly string[]): StackSpec {
  const [adapter = '', ...layers] = spec.split('+');
  if (!adapterNames.includes(adapter)) {
    if (layerNames.includes(adapter)) {
      throw new MeshError(
        'usage',
        `"${spec}": ${adapter} is a layer: write ${ORDER}; adapters: ${adapterNames.join(', ')}`,
      );
    }
    throw unknown('adapter', adapter, adapterNames);
  }
  let outermost = -1;
  for (const [index, layer] of layers.entries()) {
    if (adapterNames.includes(layer)) {
      throw new MeshError(
        'usage',
        `"${spec}": ${layer} is an adapter, and ${adapter} is one: write ${ORDER}; layers: ${layerNames.join(', ')}`,
      );
    }
    const stage = LAYER_STAGES.indexOf(stageOf(layer));
    if (stage <= outermost) {
      const before = layers[index - 1];
      throw new MeshError(
        'usage',
        `"${spec}": ${layer} (${LAYER_STAGES[stage]}) cannot follow ${before} (${LAYER_STAGES[outermost]}): write ${ORDER}; layers: ${layerNames.join(', ')}`,
      );
    }
    outermost = stage;
  }
  return { adapter, layers };
}
