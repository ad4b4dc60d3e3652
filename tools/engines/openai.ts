import type { Engine } from '../../core/engine.ts';
import { engineSettings } from './engine-settings.ts';
import { modelEngine, modelPlaces } from './model-engine.ts';
import { OPENAI_RESERVED, openaiClient, openaiOptions } from './openai-client.ts';
import { presetPrice } from './prices.ts';
import type { EngineOptions } from './registry.ts';
import { keyIn } from './server-key.ts';
import { openaiUrl } from './server-url.ts';

/**
 * Asks a model on any server with OpenAI's format: llama.cpp, vLLM, LM Studio, OpenAI itself.
 *
 * @throws MeshError `usage` for options that no server could take
 */
export function openaiEngine(options: EngineOptions): Engine {
  const { environment = process.env } = options;
  const { settings, model } = engineSettings('OpenAI', options.options ?? {}, openaiOptions, OPENAI_RESERVED);
  const key = keyIn(environment, 'OPENAI_API_KEY');
  const places = modelPlaces(options, settings, {
    defaultModel: 'gpt-4o',
    clientAt: (host) => openaiClient(openaiUrl(host, environment), key, model),
    presetPrice,
  });
  return modelEngine('openai', places, options, settings);
}
