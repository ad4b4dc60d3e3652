import type { Engine, ModelRequest } from '@gaia-mesh/core/contracts/engine.ts';
import type { JsonObject, JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { countTokens } from '@gaia-mesh/reader/tokens.ts';
import type { embeddedChat } from './embedded/chat.ts';
import { Draws } from './embedded/draw.ts';
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
  const draws = new Draws(settings.seed);
  return {
    name: 'extractive',
    tokenSource: 'embedded',
    async perform(step, work) {
      const result = (await ownWay(step.model)) ?? step.embedded();
      work.countTokens(tokensOf(step.input) + tokensOf(result));
      return result;
    },
    async chat(request, work) {
      // Agents that only do steps, or nothing but use tools, load none of it.
      chat ??= (await import('./embedded/chat.ts')).embeddedChat(settings, draws);
      return chat(request, work);
    },
  };

  /** What it makes of the same variables as a model gets, where it can do more than the tool knows of. */
  async function ownWay<Result extends JsonObject>({
    prompt,
    variables,
    result,
  }: ModelRequest<Result>): Promise<Result | undefined> {
    if (prompt !== 'critique') return undefined;
    const { judged } = await import('./embedded/judge.ts');
    const reply = judged(variables(), settings);
    return reply === undefined ? undefined : result(reply);
  }
}

/** Depth is bounded: a packet's payload was checked against `MAX_PAYLOAD_DEPTH`. */
function tokensOf(value: JsonValue): number {
  if (typeof value === 'string') return countTokens(value);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, part: JsonValue) => sum + tokensOf(part), 0);
}
