import type { Engine } from '../../core/engine.ts';
import { ANTHROPIC_RESERVED, anthropicClient, anthropicOptions } from './anthropic-client.ts';
import { engineSettings } from './engine-settings.ts';
import { modelEngine, modelPlaces } from './model-engine.ts';
import { presetPrice } from './prices.ts';
import type { EngineOptions } from './registry.ts';
import { keyIn } from './server-key.ts';
import { anthropicUrl } from './server-url.ts';

/**
 * Asks a model by Anthropic's Messages API.
 *
 * @throws MeshError `usage` for options that no server could take
 */
export function anthropicEngine(options: EngineOptions): Engine {
  const { environment = process.env } = options;
  const { settings, model } = engineSettings(
    'Anthropic',
    options.options ?? {},
    anthropicOptions,
    ANTHROPIC_RESERVED,
  );
  const key = keyIn(environment, 'ANTHROPIC_API_KEY');
  const places = modelPlaces(options, settings, {
    defaultModel: 'claude-sonnet-4-6',
    clientAt: (host) => anthropicClient(anthropicUrl(host, environment), key, model),
    presetPrice,
  });
  return modelEngine('anthropic', places, options, settings);
}
