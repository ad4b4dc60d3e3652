import { PROMPT_KINDS } from '../../core/contracts/prompt-part.ts';
import type { TokenLedgerFigures, TokenLine } from '../../core/run/metrics/token-ledger.ts';
import { count, percent } from '../terminal/table.ts';

/** What the lines of the token ledger are called. */
export const TOKEN_LABELS: Readonly<Record<TokenLine['kind'], string>> = {
  system: 'system prompts',
  tools: 'tool definitions',
  question: 'the question',
  file: 'documents and files',
  peer: "other agents' messages",
  tool_result: 'tool results',
  history: 'own earlier turns',
  retry: 'corrections',
  structure: 'prompt text around them',
  residual: 'counted by the server alone',
};

/** Prompt tokens of one kind, and how many of them had been read before in the same task. */
export interface TokenShare {
  readonly kind: TokenLine['kind'];
  readonly tokens: number;
  readonly again: number;
}

/** Prompt tokens by what they are, the most first; the residual last. */
export function tokenShares(lines: readonly Pick<TokenLine, 'kind' | 'read' | 'tokens'>[]): TokenShare[] {
  const shares = [...PROMPT_KINDS, 'residual' as const].map((kind) => {
    const own = lines.filter((line) => line.kind === kind);
    const sum = (of: typeof own) => of.reduce((all, { tokens }) => all + tokens, 0);
    return { kind, tokens: sum(own), again: sum(own.filter(({ read }) => read > 1)) };
  });
  return shares
    .filter(({ tokens }) => tokens !== 0)
    .toSorted((a, b) => (a.kind === 'residual' ? 1 : b.kind === 'residual' ? -1 : b.tokens - a.tokens));
}

/** `Prompts: tool definitions 61 % (54 % read again), …`: what the prompts of a run were made of. */
export function tokenLines({ prompt, completion, estimated, uncounted }: Figures): string[] {
  const total = prompt.reduce((sum, { tokens }) => sum + tokens, 0);
  if (total <= 0) return [];
  const shares = tokenShares(prompt).map(({ kind, tokens, again }) => {
    const repeated = again > 0 ? `, ${percent(again / total)} of all read again` : '';
    return `${TOKEN_LABELS[kind]} ${percent(tokens / total)}${repeated}`;
  });
  const said = completion.reduce((sum, { tokens }) => sum + tokens, 0);
  const kinds = (['answer', 'reasoning', 'tool_calls', 'residual'] as const)
    .map((kind) => ({
      kind,
      tokens: completion.filter((line) => line.kind === kind).reduce((sum, { tokens }) => sum + tokens, 0),
    }))
    .filter(({ tokens }) => tokens !== 0)
    .map(({ kind, tokens }) => `${REPLY_LABELS[kind]} ${percent(tokens / said)}`);
  return [
    `Prompts: ${shares.join('; ')}.`,
    ...(said > 0 && kinds.length > 0 ? [`Replies: ${kinds.join('; ')}.`] : []),
    ...(estimated ? ["A model's own tokens are not public: the shares are by o200k_base, an estimate."] : []),
    ...(uncounted === 0 ? [] : [`${count(uncounted)} replies came without figures and are in none of this.`]),
  ];
}

interface Figures extends Omit<Readonly<TokenLedgerFigures>, 'prompt' | 'completion'> {
  readonly prompt: readonly Readonly<TokenLine>[];
  readonly completion: readonly Readonly<TokenLedgerFigures['completion'][number]>[];
}

const REPLY_LABELS = {
  answer: 'text',
  reasoning: 'reasoning',
  tool_calls: 'tool calls',
  residual: 'counted by the server alone',
} as const;
