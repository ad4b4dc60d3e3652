import type { Engine, ModelRequest } from '@gaia-mesh/core/contracts/engine.ts';
import type { JsonObject, JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { countTokens } from '@gaia-mesh/reader/tokens.ts';
import type { createEmbeddedChat } from './embedded/chat.ts';
import type { EngineOptions } from './engine-options.ts';
import { parseEmbeddedSettings } from './engine-settings.ts';

/**
 * Creates the embedded engine, which has no model and no network: each tool's own deterministic method for a step, and a small reader and
 * parser of tables in place of a model for a conversation. Its tokens are the words and marks of the texts that it read and wrote (MP-52);
 * keys and numbers do not count.
 *
 * @throws MeshError `usage` for options that it cannot take
 */
export function createExtractiveEngine({ options }: Pick<EngineOptions, 'options'> = {}): Engine {
  const settings = parseEmbeddedSettings(options);
  let chat: Promise<ReturnType<typeof createEmbeddedChat>> | undefined;
  return {
    name: 'extractive',
    tokenSource: 'embedded',
    async perform(step, work) {
      const result = (await ownWay(step.model)) ?? step.embedded();
      work.countTokens(countValueTokens(step.input) + countValueTokens(result));
      return result;
    },
    async chat(request, work) {
      // Agents that only do steps, or only use tools, load none of it.
      chat ??= import('./embedded/chat.ts').then((part) => part.createEmbeddedChat(settings));
      return (await chat)(request, work);
    },
  };

  /** Returns the engine's own result from a model's variables, for steps in which it can do more than the tool. */
  async function ownWay<Result extends JsonObject>({
    prompt,
    variables,
    result,
  }: ModelRequest<Result>): Promise<Result | undefined> {
    if (prompt !== 'critique') return undefined;
    const { judgeAnswer } = await import('./embedded/chat.ts');
    const reply = judgeAnswer(variables(), settings);
    return reply === undefined ? undefined : result(reply);
  }
}

/** Depth is bounded: a packet's payload was checked against `MAX_PAYLOAD_DEPTH`. */
function countValueTokens(value: JsonValue): number {
  if (typeof value === 'string') return countTokens(value);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, part: JsonValue) => sum + countValueTokens(part), 0);
}
