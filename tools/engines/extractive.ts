import type { Engine } from '../../core/contracts/engine.ts';
import type { JsonValue } from '../../core/contracts/packet.ts';
import { countTokens } from '../reader/tokens.ts';
import type { embeddedChat } from './embedded/chat.ts';
import { embeddedSettings } from './embedded/settings.ts';
import type { EngineOptions } from './registry.ts';

/**
 * The embedded engine, with no model and no network: each tool's own deterministic way for a step, and a small reader and parser of
 * tables in the seat of a model for a conversation. Its tokens are the words and marks of the texts that it read and wrote (MP-52); keys
 * and numbers are not reading matter.
 *
 * @throws MeshError `usage` for options that it cannot take
 */
export function extractiveEngine({ options }: Pick<EngineOptions, 'options'> = {}): Engine {
  const settings = embeddedSettings(options);
  let chat: ReturnType<typeof embeddedChat> | undefined;
  return {
    name: 'extractive',
    tokenSource: 'embedded',
    async perform(step, work) {
      const result = step.embedded();
      work.countTokens(tokensOf(step.input) + tokensOf(result));
      return result;
    },
    async chat(request, work) {
      // Agents that only do steps, or nothing but use tools, load none of it.
      chat ??= await loadChat();
      return chat(request, work);
    },
  };

  async function loadChat() {
    const [{ embeddedChat }, { Draws }] = await Promise.all([
      import('./embedded/chat.ts'),
      import('./embedded/draw.ts'),
    ]);
    return embeddedChat(settings, new Draws(settings.seed));
  }
}

/** Depth is bounded: a packet's payload was checked against `MAX_PAYLOAD_DEPTH`. */
function tokensOf(value: JsonValue): number {
  if (typeof value === 'string') return countTokens(value);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, part: JsonValue) => sum + tokensOf(part), 0);
}
