import type { Engine } from '../../core/engine.ts';
import { engineSettings } from './engine-settings.ts';
import { modelEngine, modelPlaces } from './model-engine.ts';
import { ollamaClient, ollamaOptions } from './ollama-client.ts';
import { FREE } from './prices.ts';
import type { EngineOptions } from './registry.ts';
import { ollamaUrl } from './server-url.ts';

export { checkOllama } from './ollama-client.ts';

/**
 * Asks a model on an Ollama server. The reply's schema goes with the request, so the server holds the model to it.
 *
 * @throws MeshError `usage` for options that no server could take
 */
export function ollamaEngine(options: EngineOptions): Engine {
  const { environment = process.env } = options;
  const { settings, model } = engineSettings('Ollama', options.options ?? {}, ollamaOptions);
  const places = modelPlaces(options, settings, {
    defaultModel: 'gemma-7b-it',
    clientAt: (host) => ollamaClient(ollamaUrl(host, environment), model),
    presetPrice: () => FREE,
  });
  return modelEngine('ollama', places, options, settings);
}
