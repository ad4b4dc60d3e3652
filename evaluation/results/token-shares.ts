import type { TokenLedgerFigures } from '@gaia-mesh/core/run/metrics/token-ledger.ts';
import { count, formatPercent } from '../terminal/table.ts';

type TokenLine = TokenLedgerFigures['prompt'][number];

/** Labels of the token ledger's lines. */
const LABELS: Readonly<Record<TokenLine['kind'], string>> = {
  system: 'system prompts',
  tools: 'tool definitions',
  question: 'the question',
  file: 'documents and files',
  peer: "other agents' messages",
  tool_result: 'tool results',
  history: 'own earlier turns',
  retry: 'corrections',
  structure: 'prompt text around them',
  residual: 'counted otherwise by the server',
};

const KINDS = Object.keys(LABELS) as TokenLine['kind'][];

/** Prompt tokens of one kind, and how many of them had been read before in the same task. */
interface TokenShare {
  readonly kind: TokenLine['kind'];
  readonly label: string;
  readonly tokens: number;
  readonly again: number;
  /**
   * Share of all tokens whose kind is known. The residual is positive if the server counts more, and negative if it counts fewer.
   */
  readonly share: number;
}

/** Computes prompt tokens by kind, in descending order with the residual last. */
export function computeTokenShares(
  lines: readonly Pick<TokenLine, 'kind' | 'read' | 'tokens'>[],
): TokenShare[] {
  const shares = KINDS.map((kind) => {
    const own = lines.filter((line) => line.kind === kind);
    const sum = (of: typeof own) => of.reduce((all, { tokens }) => all + tokens, 0);
    return { kind, label: LABELS[kind], tokens: sum(own), again: sum(own.filter(({ read }) => read > 1)) };
  });
  const known = shares.reduce((all, { kind, tokens }) => (kind === 'residual' ? all : all + tokens), 0);
  return shares
    .filter(({ tokens }) => tokens !== 0)
    .map((own) => ({ ...own, share: known === 0 ? 1 : own.tokens / known }))
    .toSorted((a, b) => (a.kind === 'residual' ? 1 : b.kind === 'residual' ? -1 : b.tokens - a.tokens));
}

/** Formats the composition of a run's prompts: `Prompts: tool definitions 61 % (54 % read again), …`. */
export function formatTokenLines({ prompt, completion, estimated, uncounted }: Figures): string[] {
  const shares = computeTokenShares(prompt).map(({ kind, label, tokens, share, again }) => {
    if (kind === 'residual') return formatResidual(share);
    const repeated = again > 0 ? `, ${formatPercent((again / tokens) * share)} of all read again` : '';
    return `${label} ${formatPercent(share)}${repeated}`;
  });
  const sumOf = (kind: keyof typeof REPLY_LABELS | 'residual') =>
    completion.filter((line) => line.kind === kind).reduce((sum, { tokens }) => sum + tokens, 0);
  const said = sumOf('answer') + sumOf('reasoning') + sumOf('tool_calls');
  const replies = (['answer', 'reasoning', 'tool_calls'] as const)
    .filter((kind) => sumOf(kind) > 0)
    .map((kind) => `${REPLY_LABELS[kind]} ${formatPercent(sumOf(kind) / said)}`);
  const otherwise = sumOf('residual');
  if (said > 0 && otherwise !== 0) replies.push(formatResidual(otherwise / said));
  return [
    ...(shares.length > 0 ? [`Prompts: ${shares.join('; ')}.`] : []),
    ...(replies.length > 0 ? [`Replies: ${replies.join('; ')}.`] : []),
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
} as const;

/** @param share difference as a share of the known tokens */
function formatResidual(share: number): string {
  return `the server counts ${formatPercent(Math.abs(share))} ${share > 0 ? 'more' : 'fewer'}`;
}
