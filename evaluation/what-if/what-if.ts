import type { ModelExchange } from '../../core/contracts/engine.ts';
import { MeshError } from '../../core/contracts/errors.ts';
import {
  exchangeLogs,
  type RecordedExchange,
  recordedExchanges,
} from '../../core/recording/recorded-exchange.ts';
import { countExchange } from '../../core/tokens/count-exchange.ts';
import { type Prompt, VARIANTS } from './variants.ts';

/** All exchanges of an archive. */
const MAX_EXCHANGES_BYTES = 256 * 1024 * 1024;

export interface VariantTokens {
  readonly name: string;
  readonly what: string;
  readonly tokens: number;
}

/** Prompt tokens of a run as it was, and as they would be in other ways of writing the same; by the count of `countExchange`. */
export interface WhatIf {
  readonly requests: number;
  /** Requests of which a text was not kept: they are in no figure. */
  readonly lost: number;
  /** Whether the models' own tokens are known. */
  readonly known: boolean;
  readonly tokens: number;
  readonly variants: readonly VariantTokens[];
  /** Tokens with which a request begins as the one before it in its conversation did: what a server with a prompt cache need not read again. */
  readonly cacheable: number;
}

/** @throws MeshError `config` for an archive that cannot be read, or whose run asked no model */
export async function whatIf(archive: string): Promise<WhatIf> {
  const agents = (await exchangeLogs(archive, MAX_EXCHANGES_BYTES)).map(recordedExchanges);
  const exchanges = agents.flatMap((agent) => agent.exchanges);
  const lost = agents.reduce((sum, agent) => sum + agent.lost, 0);
  if (exchanges.length + lost === 0)
    throw new MeshError(
      'config',
      `archive ${archive}: no model was asked in this run, so there are no prompts to write in another way`,
    );
  let known = true;
  const count = async (write: (prompt: Prompt) => Prompt) => {
    let sum = 0;
    for (const { exchange } of exchanges) {
      const counted = await countExchange({ ...exchange, ...write(exchange) });
      known &&= counted.known;
      sum += counted.parts.reduce((all, { tokens }) => all + tokens, 0);
    }
    return sum;
  };
  const tokens = await count((prompt) => prompt);
  const variants: VariantTokens[] = [];
  for (const { name, what, write } of VARIANTS) variants.push({ name, what, tokens: await count(write) });
  let cacheable = 0;
  for (const agent of agents) cacheable += await cacheableOf(agent.exchanges);
  return { requests: exchanges.length, lost, known, tokens, variants, cacheable };
}

async function cacheableOf(exchanges: readonly RecordedExchange[]): Promise<number> {
  const last = new Map<string, ModelExchange>();
  let sum = 0;
  for (const { taskId, role, exchange } of exchanges) {
    const conversation = JSON.stringify([taskId, role]);
    const before = last.get(conversation);
    last.set(conversation, exchange);
    if (before === undefined || JSON.stringify(before.tools) !== JSON.stringify(exchange.tools)) continue;
    let same = 0;
    while (same < before.messages.length && sameMessage(before.messages[same], exchange.messages[same]))
      same += 1;
    if (same === 0) continue;
    const { parts } = await countExchange({ ...exchange, messages: exchange.messages.slice(0, same) });
    sum += parts.reduce((all, { tokens }) => all + tokens, 0);
  }
  return sum;
}

const sameMessage = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
