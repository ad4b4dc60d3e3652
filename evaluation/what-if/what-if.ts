import type { ModelExchange } from '../../core/contracts/engine.ts';
import { MeshError } from '../../core/contracts/errors.ts';
import {
  exchangeLogs,
  type RecordedExchange,
  recordedExchanges,
} from '../../core/recording/recorded-exchange.ts';
import { countExchange } from '../../core/tokens/count-exchange.ts';
import { count, percent, table, wrapped } from '../terminal/table.ts';
import { type Prompt, VARIANTS } from './variants.ts';

/** All exchanges of an archive. */
const MAX_EXCHANGES_BYTES = 256 * 1024 * 1024;

interface VariantTokens {
  readonly name: string;
  readonly what: string;
  readonly tokens: number;
}

/** Prompt tokens of a run as it was, and as they would be in other ways of writing the same; by the count of `countExchange`. */
interface WhatIf {
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
  const written = async (write: (prompt: Prompt) => Prompt) => {
    let all = 0;
    for (const { exchange } of exchanges) {
      const counted = await countExchange({ ...exchange, ...write(exchange) });
      known &&= counted.known;
      all += tokensOf(counted.parts);
    }
    return all;
  };
  const tokens = await written((prompt) => prompt);
  const variants: VariantTokens[] = [];
  for (const { name, what, write } of VARIANTS) variants.push({ name, what, tokens: await written(write) });
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
    sum += tokensOf(parts);
  }
  return sum;
}

const tokensOf = (parts: readonly { readonly tokens: number }[]) =>
  parts.reduce((sum, { tokens }) => sum + tokens, 0);

const sameMessage = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** For people: each other way of writing, and what it would have saved. */
export function whatIfText({ requests, lost, known, tokens, variants, cacheable }: WhatIf): string {
  const saved = (other: number) => (tokens === 0 ? '–' : percent((tokens - other) / tokens));
  const all = [...variants, { name: 'a prompt cache', what: CACHE, tokens: tokens - cacheable }];
  return [
    table([
      ['prompts written with', 'tokens', 'saved'],
      ['nothing changed', count(tokens), '–'],
      ...all.map((variant) => [variant.name, count(variant.tokens), saved(variant.tokens)]),
    ]),
    '',
    ...all.map(({ name, what }) => wrapped(`${name}: ${what}.`)),
    '',
    wrapped(
      `Of ${count(requests)} requests. ` +
        `${known ? "By the models' own tokens." : "The models' own tokens are not public: by o200k_base, so take the shares and not the sums."} ` +
        'What another way of writing does to the answers is not in these figures, since no model was asked.',
    ),
    ...(lost === 0
      ? []
      : [`${count(lost)} more are in none of this: a text of theirs was too long to keep.`]),
    '',
  ].join('\n');
}

const CACHE = 'what is left at the full price, if the server keeps how a conversation began';
