import { readFileSync } from 'node:fs';
import type {
  ChatMessage,
  ChatRequest,
  Engine,
  EngineWork,
  ModelUsage,
  Step,
  ToolDefinition,
} from '@gaia-mesh/core/contracts/engine.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { afterEach, expect } from 'vitest';
import * as z from 'zod';
import {
  type ModelScript,
  type ModelServer,
  type ModelServerOptions,
  startModelServer,
} from '../../fixtures/model-server.ts';
import type { Pace } from '../../http/service.ts';
import type { EngineOptions } from '../engine-options.ts';
import type { Permits } from '../permits.ts';
import { describeEngine, engineNames, loadEngine, serverKeys } from '../registry.ts';

/** The engines that use a model server; all of them keep the same contract. The process of `llama` speaks the format of `openai`. */
export const MODEL_ENGINES = engineNames.filter((name) => describeEngine(name).network && name !== 'llama');

export const PROMPT = 'For people.\n\n## system\n\nBe brief.\n\n## user\n\nAsk: {{question}}\n';
export const KEY = 'sk-secret-0123456789';

export const step: Step = {
  input: { question: 'Wer?' },
  embedded: () => ({ answer: 'embedded' }),
  model: {
    prompt: 'ask',
    variables: () => ({ question: 'Wer war es?' }),
    reply: z.object({ answer: z.string() }),
    result: (reply) => z.object({ answer: z.string() }).parse(reply),
  },
};

export const weather: ToolDefinition = {
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

export const hello: ChatMessage = { role: 'user', content: 'Hello' };

const servers: ModelServer[] = [];
afterEach(async () => {
  // No test may send a request that a real server would refuse.
  for (const server of servers) expect(server.invalid).toEqual([]);
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** Starts a scripted model, closed after the test. */
export async function serve(script: ModelScript, options?: ModelServerOptions): Promise<ModelServer> {
  const server = await startModelServer(script, options);
  servers.push(server);
  return server;
}

const SUMMARY_PROMPT = readFileSync(new URL('../../../config/prompts/summarise.md', import.meta.url), 'utf8');

/** Returns the helpers for testing one engine. */
export function underTest(name: string) {
  /** Creates an engine whose retries take no time, and records of its work. */
  async function engineAt(host: string, options: Partial<EngineOptions> = {}) {
    const delays: number[] = [];
    const pauses: number[] = [];
    const notes: string[] = [];
    const usages: ModelUsage[] = [];
    let tokens = 0;
    const pace: Pace = {
      random: () => 0.5,
      nowMs: () => 0,
      wait: async (ms) => void delays.push(ms),
    };
    const permits: Permits = {
      acquire:
        async () =>
        (pauseMs = 0) =>
          void pauses.push(pauseMs),
    };
    const engine = await loadEngine(name, {
      host,
      model: 'm',
      prompts: (name) => (name === 'summarise' ? SUMMARY_PROMPT : PROMPT),
      // The servers count as named by the user on the command line.
      environment: {
        ...Object.fromEntries(serverKeys.map(({ variable }) => [variable, KEY])),
        GAIA_MESH_KEY_HOSTS: `${host},${options.options?.fallback_base_url ?? ''}`,
      },
      permits,
      pace,
      ...options,
    });
    const workFor = (signal: AbortSignal): EngineWork => ({
      signal,
      countTokens: (count) => {
        tokens += count;
      },
      countUsage: (usage) => usages.push(usage),
      onNote: (note) => notes.push(note),
    });
    return { engine, delays, pauses, notes, usages, tokens: () => tokens, workFor };
  }

  async function performAt(
    host: string,
    options: Partial<EngineOptions> = {},
    signal: AbortSignal = new AbortController().signal,
  ) {
    const { engine, workFor, tokens, ...rest } = await engineAt(host, options);
    const outcome = await engine.perform(step, workFor(signal)).catch((error: unknown) => error);
    return { outcome, tokens: tokens(), ...rest };
  }

  async function chatAt(host: string, request: ChatRequest, options: Partial<EngineOptions> = {}) {
    const { engine, workFor, tokens, ...rest } = await engineAt(host, options);
    const outcome = await chatOf(engine)(request, workFor(new AbortController().signal)).catch(
      (error: unknown) => error,
    );
    return { outcome, tokens: tokens(), ...rest };
  }

  function chatOf(engine: Engine): NonNullable<Engine['chat']> {
    if (engine.chat === undefined) throw new Error(`${engine.name} has no chat`);
    return engine.chat;
  }

  /** Returns the server's URL as it stands in messages. */
  const urlOf = ({ url }: ModelServer) => (name === 'openai' ? `${url}/v1` : url);

  return { engineAt, performAt, chatAt, chatOf, urlOf };
}

/** Expects a failure of the engine, of this request or of all, whose message contains `words`. */
export function expectFailure(outcome: unknown, ...words: string[]): void {
  expect(outcome).toBeInstanceOf(MeshError);
  expect(outcome).toMatchObject({ code: expect.stringMatching(/^(?:engine|reply)$/) });
  for (const word of words) expect(outcome).toHaveProperty('message', expect.stringContaining(word));
}
