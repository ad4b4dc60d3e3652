import type { Engine } from '../../core/engine.ts';
import type { JsonValue } from '../../core/packet.ts';
import { registry } from '../../core/registry.ts';

/** What an engine may be told; the embedded one needs none of it. */
export interface EngineOptions {
  readonly model?: string;
  /** Of the model server: a URL, or `host:port`. */
  readonly host?: string;
  /** The model's own options: `seed`, `temperature`, `num_ctx`, … */
  readonly options?: Readonly<Record<string, JsonValue>>;
  /** For one request to the server. Node's `fetch` gives up a server that is silent for 300 s, whatever this says. */
  readonly timeoutMs?: number;
  /** The text of the prompt of that name. */
  readonly prompts: (name: string) => string;
}

// Who uses no model server loads no client for one.
const engines = registry<(options: EngineOptions) => Engine>('engine', {
  extractive: async () => (await import('./extractive.ts')).extractiveEngine,
  ollama: async () => (await import('./ollama.ts')).ollamaEngine,
});

export const engineNames = engines.names;

/** @throws MeshError `usage` for a name that is not in {@link engineNames} */
export async function engineNamed(name: string, options: EngineOptions): Promise<Engine> {
  return (await engines.load(name))(options);
}
