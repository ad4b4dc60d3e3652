import type { Engine } from '../../core/engine.ts';
import { MeshError } from '../../core/errors.ts';
import type { JsonValue } from '../../core/packet.ts';

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

// One line an engine. Imported when asked for: who uses no model server loads no client for one.
const loaders: Readonly<Record<string, (options: EngineOptions) => Promise<Engine>>> = {
  extractive: async () => (await import('./extractive.ts')).extractiveEngine(),
  ollama: async (options) => (await import('./ollama.ts')).ollamaEngine(options),
};

export const engineNames: readonly string[] = Object.keys(loaders);

/** @throws MeshError `usage` for a name that is not in {@link engineNames} */
export async function engineNamed(name: string, options: EngineOptions): Promise<Engine> {
  const load = Object.hasOwn(loaders, name) ? loaders[name] : undefined;
  if (load === undefined) {
    throw new MeshError(
      'usage',
      `no engine named ${JSON.stringify(name)}; there are: ${engineNames.join(', ')}`,
    );
  }
  return load(options);
}
