import * as z from 'zod';
import type { ExchangeLine } from '../../contracts/model-exchange.ts';
import { OTHERS } from '../../contracts/others.ts';
import { PROMPT_KINDS } from '../../contracts/prompt-part.ts';
import type { countExchange } from '../../tokens/count-exchange.ts';

const count = z.int().nonnegative();

/** Reads that are told apart; later ones share a line, since their number hardly matters. */
const MAX_READ = 4;
/** Maximum lines: roles × packet types × kinds × reads; a team has some hundred. Further ones share those of {@link OTHERS}. */
const MAX_LINES = 5_000;
/** Maximum distinct parts of one task; further ones count as new. */
const MAX_DIGESTS = 50_000;

const tokenLineSchema = z
  .strictObject({
    role: z
      .string()
      .describe(`who asked the model; beyond ${MAX_LINES} lines new ones share those of ${OTHERS}`),
    packet_type: z.string().describe('type of the packet that was being worked on'),
    model: z.string().describe('the model'),
    kind: z.enum([...PROMPT_KINDS, 'residual']).describe('what the part of the prompt is'),
    read: z
      .int()
      .min(1)
      .max(MAX_READ)
      .describe(
        '1 if a model reads it for the first time in its task, 2 for the second time, and so on; 4 stands for all later ones, too',
      ),
    tokens: z.int().describe('tokens; a residual may be below 0'),
  })
  .meta({ id: 'token line', description: 'Prompt tokens by what they are.' });
type TokenLine = z.infer<typeof tokenLineSchema>;

export const tokenLedgerSchema = z
  .strictObject({
    prompt: z
      .array(tokenLineSchema)
      .describe('they sum to prompt_tokens of the exchanges whose tokens the server counted'),
    completion: z
      .array(
        z.strictObject({
          role: z.string().describe('who asked the model'),
          packet_type: z.string().describe('type of the packet that was being worked on'),
          model: z.string().describe('the model'),
          kind: z
            .enum(['answer', 'reasoning', 'tool_calls', 'residual'])
            .describe('what the part of the reply is'),
          tokens: z.int().describe('tokens; a residual may be below 0'),
        }),
      )
      .describe('they sum to completion_tokens likewise'),
    estimated: z
      .boolean()
      .describe(
        "whether some model's encoding is not public: its lines are by o200k_base, and the residual is what its server counts otherwise",
      ),
    uncounted: count.describe(
      'replies that are on no line: their server gave no figures, or a text was too long to keep',
    ),
  })
  .meta({ id: 'token ledger', description: 'Each token of a run’s prompts and replies on one line.' });
export type TokenLedgerFigures = z.infer<typeof tokenLedgerSchema>;

/** One exchange as an agent recorded it, and its tokens by part. */
interface LedgerExchange
  extends Pick<ExchangeLine, 'role' | 'packet_type' | 'model' | 'prompt_tokens' | 'completion_tokens'> {
  readonly counted: Awaited<ReturnType<typeof countExchange>>;
}

/**
 * Adds up the exchanges that agents recorded, and recognises parts that were read before in the same task.
 */
export class TokenLedger {
  readonly #prompt = new Map<string, TokenLine>();
  readonly #completion = new Map<string, TokenLedgerFigures['completion'][number]>();
  readonly #reads = new Map<string, number>();
  #estimated = false;
  #uncounted = 0;

  add({ role, packet_type, model, prompt_tokens, completion_tokens, counted }: LedgerExchange): void {
    const by = { role, packet_type, model };
    if (prompt_tokens === null || completion_tokens === null) {
      this.#uncounted += 1;
      // The model has read the parts all the same.
      for (const { digest } of counted.parts) this.#readOf(digest);
      return;
    }
    this.#estimated ||= !counted.known;
    let rest = prompt_tokens;
    for (const { kind, tokens, digest } of counted.parts) {
      rest -= tokens;
      addLine(this.#prompt, { ...by, kind, read: kind === 'structure' ? 1 : this.#readOf(digest), tokens });
    }
    addLine(this.#prompt, { ...by, kind: 'residual', read: 1, tokens: rest });
    const { answer, reasoning, tool_calls } = counted.completion;
    const said = {
      answer,
      reasoning,
      tool_calls,
      residual: completion_tokens - answer - reasoning - tool_calls,
    };
    for (const kind of ['answer', 'reasoning', 'tool_calls', 'residual'] as const) {
      addLine(this.#completion, { ...by, kind, tokens: said[kind] });
    }
  }

  /** Counts an exchange with a missing text, which is on no line. */
  addUnknown(): void {
    this.#uncounted += 1;
  }

  /** Figures of the ledger; undefined if no exchange was added. */
  get figures(): TokenLedgerFigures | undefined {
    if (this.#prompt.size === 0 && this.#completion.size === 0 && this.#uncounted === 0) return undefined;
    return {
      prompt: [...this.#prompt.values()],
      completion: [...this.#completion.values()],
      estimated: this.#estimated,
      uncounted: this.#uncounted,
    };
  }

  #readOf(digest: string): number {
    const reads = Math.min(MAX_READ, (this.#reads.get(digest) ?? 0) + 1);
    if (this.#reads.has(digest) || this.#reads.size < MAX_DIGESTS) this.#reads.set(digest, reads);
    return reads;
  }
}

/** Adds a line to the line of its like. Beyond {@link MAX_LINES} a new one goes to a line of others, so that all sums stay exact. */
function addLine<Line extends { role: string; packet_type: string; model: string; tokens: number }>(
  lines: Map<string, Line>,
  line: Line,
): void {
  if (line.tokens === 0) return;
  const isFull = lines.size >= MAX_LINES && !lines.has(findLineKey(line));
  const own = isFull ? { ...line, role: OTHERS, packet_type: OTHERS, model: OTHERS } : line;
  const key = findLineKey(own);
  lines.set(key, { ...own, tokens: (lines.get(key)?.tokens ?? 0) + own.tokens });
}

function findLineKey({ tokens: _tokens, ...by }: { readonly tokens: number }): string {
  return JSON.stringify(by);
}

/** Sums the ledgers of several tasks. */
export function sumLedgers(ledgers: readonly TokenLedgerFigures[]): TokenLedgerFigures | undefined {
  const [first] = ledgers;
  if (first === undefined) return undefined;
  return {
    prompt: sumTokenLines(ledgers.flatMap(({ prompt }) => prompt)),
    completion: sumTokenLines(ledgers.flatMap(({ completion }) => completion)),
    estimated: ledgers.some(({ estimated }) => estimated),
    uncounted: ledgers.reduce((sum, { uncounted }) => sum + uncounted, 0),
  };
}

function sumTokenLines<Line extends Parameters<typeof addLine>[1]>(lines: readonly Line[]): Line[] {
  const sums = new Map<string, Line>();
  for (const line of lines) addLine(sums, line);
  return [...sums.values()];
}
