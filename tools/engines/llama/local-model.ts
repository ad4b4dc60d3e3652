import type { ChatMessage, ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import { LLAMA_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { hashText } from '@gaia-mesh/core/contracts/model-exchange.ts';
import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import type { PromptPart, TokenCounts } from '@gaia-mesh/core/contracts/prompt-part.ts';
import { listParts } from '@gaia-mesh/core/tokens/parts-of.ts';
import { ChatPrompt } from './chat-prompt.ts';
import type { LlamaModel, LlamaSequence, loadLibrary } from './library.ts';
import { Openings } from './openings.ts';
import { buildCallGrammar, buildSchemaGrammar } from './schema-grammar.ts';

type LlamaLibrary = Awaited<ReturnType<typeof loadLibrary>>;

export interface GenerateOptions {
  readonly maxTokens: number;
  readonly temperature: number;
  readonly seed: number;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly minP?: number | undefined;
  readonly penalties?: { readonly frequency: number; readonly presence: number } | undefined;
  /** The schema that the reply must fit, or the tools that it may call. */
  readonly schema?: JsonValue | undefined;
  readonly tools: readonly ToolDefinition[];
  /** True if the reply must be a call. */
  readonly mustCall: boolean;
  readonly stop: readonly string[];
  readonly signal: AbortSignal;
}

interface GeneratedEnd {
  readonly finish: 'stop' | 'length';
  readonly tokens: number;
  /** Tokens from the first call on. */
  readonly callTokens: number;
}

interface TokenizedPrompt {
  readonly tokens: number[];
  /** The tokens of each part; they sum to all. */
  readonly parts: TokenCounts['parts'];
  /** Tokens before the first content that is no system message: what all conversations of a role begin with. */
  readonly opening: number;
}

/** The mark with which a reply begins a tool call. */
export const CALL_MARK = '<tool_call>';
const REPLACEMENT = '\uFFFD';

interface LoadOptions {
  readonly contextTokens: number;
  /** Processor threads that compute; more than the free ones wait for each other and are far slower. */
  readonly threads: number;
  /** The folder for what is kept of prompts. */
  readonly folder: string;
}

/** A model in memory with one context, which answers one request at a time. */
export class LocalModel {
  readonly contextTokens: number;
  readonly prompt: ChatPrompt;
  readonly #library: LlamaLibrary;
  readonly #model: LlamaModel;
  readonly #sequence: LlamaSequence;
  /** The prompt tokens in the context that were read in whole steps. */
  #kept: readonly number[] = [];
  readonly #openings: Openings;

  private constructor(
    library: LlamaLibrary,
    model: LlamaModel,
    sequence: LlamaSequence,
    { contextTokens, folder }: LoadOptions,
  ) {
    this.#openings = new Openings(sequence, folder);
    this.contextTokens = contextTokens;
    this.#library = library;
    this.#model = model;
    this.#sequence = sequence;
    const { chat_template: given } = model.fileInfo.metadata.tokenizer ?? {};
    const { bosString, eosString } = model.tokens;
    this.prompt = new ChatPrompt(given, library.compileTemplate, {
      bos_token: bosString ?? '',
      eos_token: eosString ?? '',
    });
  }

  static async load(library: LlamaLibrary, file: string, options: LoadOptions): Promise<LocalModel> {
    const { contextTokens, threads } = options;
    const model = await library.llama.loadModel({ modelPath: file });
    const context = await model.createContext({
      contextSize: contextTokens,
      batchSize: LLAMA_LIMITS.stepTokens,
      threads,
    });
    return new LocalModel(library, model, context.getSequence(), options);
  }

  /**
   * Returns the tokens of a prompt. Marks of the chat format are recognised only in what the template wrote.
   *
   * @throws Error of the template
   */
  tokenize(messages: readonly ChatMessage[], tools: readonly ToolDefinition[]): TokenizedPrompt {
    const { bos, shouldPrependBosToken } = this.#model.tokens;
    const rendered = this.prompt.render(messages, tools);
    const tokens: number[] = [];
    const parts: TokenCounts['parts'] = [];
    let opening: number | undefined;
    let structure = 0;
    for (const { text, message: index } of rendered.pieces) {
      const message = index === undefined ? undefined : rendered.messages[index];
      const own = this.#model.tokenize(text, message === undefined);
      if (bos !== null && shouldPrependBosToken && tokens.length === 0 && own[0] !== bos) own.unshift(bos);
      if (message === undefined) structure += own.length;
      else {
        if (message.role !== 'system') opening ??= tokens.length;
        const texts = listParts(message);
        this.#countTexts(texts, own).forEach((count, at) => {
          const part = texts[at];
          if (part !== undefined && count > 0)
            parts.push({ kind: part.kind, tokens: count, digest: hashText(part.text) });
        });
      }
      for (const token of own) tokens.push(token);
    }
    if (this.prompt.hasTools) {
      for (const part of this.#countOwnWords(messages, tools)) {
        parts.push(part);
        structure -= part.tokens;
      }
    }
    parts.push({ kind: 'structure', tokens: structure, digest: '' });
    return { tokens, parts, opening: opening ?? 0 };
  }

  tokenizeText(text: string): number[] {
    return this.#model.tokenize(text, false);
  }

  /** Counts the tokens of a template's own words for tools and calls: the difference from a prompt without them. */
  #countOwnWords(messages: readonly ChatMessage[], tools: readonly ToolDefinition[]): TokenCounts['parts'] {
    const countWords = (some: readonly ChatMessage[], offered: readonly ToolDefinition[]) =>
      this.prompt
        .render(some, offered)
        .pieces.filter(({ message }) => message === undefined)
        .reduce((sum, { text }) => sum + this.#model.tokenize(text, true).length, 0);
    const plain = messages.map((message) =>
      message.role === 'assistant' ? { ...message, toolCalls: [] } : message,
    );
    const calls = messages.flatMap((message) =>
      message.role === 'assistant' ? (message.toolCalls ?? []) : [],
    );
    if (tools.length === 0 && calls.length === 0) return [];
    const without = countWords(messages, []);
    const parts = [
      {
        kind: 'tools' as const,
        tokens: countWords(messages, tools) - without,
        digest: hashText(JSON.stringify(tools)),
      },
      {
        kind: 'history' as const,
        tokens: without - countWords(plain, []),
        digest: hashText(JSON.stringify(calls)),
      },
    ];
    return parts.filter((part) => part.tokens > 0);
  }

  /** Counts the tokens of each of the texts whose concatenation has these tokens: a token belongs to the text in which it begins. */
  #countTexts(texts: readonly Pick<PromptPart, 'text'>[], tokens: readonly number[]): number[] {
    let from = 0;
    let begun = 0;
    return texts.map(({ text }, index) => {
      let [low, high] = [from, tokens.length];
      const measure = (to: number) =>
        this.#model.detokenize(tokens.slice(from, to), true, tokens.slice(Math.max(0, from - 8), from))
          .length;
      if (index === texts.length - 1) low = high;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (begun + measure(middle) < text.length) low = middle + 1;
        else high = middle;
      }
      // The last token may reach into the next text.
      begun = Math.max(0, begun + measure(low) - text.length);
      const count = low - from;
      from = low;
      return count;
    });
  }

  /** Yields the text of a reply as it is generated; ends when the signal is aborted. */
  async *generate(prompt: TokenizedPrompt, options: GenerateOptions): AsyncGenerator<string, GeneratedEnd> {
    const rest = await this.#read(prompt, options.signal);
    const grammar = await this.#createGrammar(options);
    const { temperature, seed, topP = 0.95, topK = 40, minP = 0.05, penalties, signal } = options;
    const generated: number[] = [];
    let text = '';
    let shown = 0;
    let pending: number[] = [];
    let finish: GeneratedEnd['finish'] = 'stop';
    const source = this.#sequence.evaluate(rest, {
      temperature,
      seed,
      ...(temperature > 0 ? { topP, topK, minP } : {}),
      grammarEvaluationState: () => grammar(text),
      repeatPenalty:
        penalties === undefined
          ? false
          : {
              punishTokens: () => generated.slice(-LLAMA_LIMITS.loop.cycle),
              penalty: 1,
              frequencyPenalty: penalties.frequency,
              presencePenalty: penalties.presence,
            },
    });
    for await (const token of source) {
      generated.push(token);
      pending.push(token);
      const piece = this.#model.detokenize(pending, true, generated.slice(0, -pending.length));
      // A character may have several tokens.
      if (!piece.endsWith(REPLACEMENT) || pending.length > 4) {
        text += piece;
        pending = [];
      }
      const end = findStop(text, options.stop, shown);
      if (end !== undefined) {
        text = text.slice(0, end);
        break;
      }
      const sure = text.length - countHeld(text, [...options.stop, CALL_MARK]);
      if (sure > shown) {
        yield text.slice(shown, sure);
        shown = sure;
      }
      if (signal.aborted) break;
      if (generated.length >= options.maxTokens || isLooping(generated)) {
        finish = 'length';
        break;
      }
    }
    if (shown < text.length) yield text.slice(shown);
    const call = options.tools.length === 0 ? -1 : text.indexOf(CALL_MARK);
    const [words = 0] =
      call === -1
        ? [generated.length]
        : this.#countTexts([{ text: text.slice(0, call) }, { text: text.slice(call) }], generated);
    return { finish, tokens: generated.length, callTokens: generated.length - words };
  }

  /**
   * Reads a prompt up to its last step, whose tokens are returned. Steps begin at fixed tokens, and those that an earlier prompt shares are
   * kept, as are the openings of roles: the numbers are the same as if they were read again, so that a reply does not depend on the
   * requests before.
   */
  async #read({ tokens: prompt, opening }: TokenizedPrompt, signal: AbortSignal): Promise<number[]> {
    const { stepTokens } = LLAMA_LIMITS;
    const shared = this.#kept.findIndex((token, index) => token !== prompt[index]);
    const most = Math.min(shared === -1 ? this.#kept.length : shared, prompt.length - 1);
    let read = most - (most % stepTokens);
    const restored = await this.#openings.restore(prompt, read);
    if (restored === undefined) await this.#sequence.adaptStateToTokens(prompt.slice(0, read), false);
    else read = restored;
    if (this.#sequence.nextTokenIndex !== read) {
      // Some models cannot forget a part of their context.
      await this.#sequence.clearHistory();
      read = 0;
    }
    this.#kept = prompt.slice(0, read);
    while (prompt.length - read > stepTokens) {
      signal.throwIfAborted();
      await this.#sequence.evaluateWithoutGeneratingNewTokens(prompt.slice(read, read + stepTokens));
      read += stepTokens;
      this.#kept = prompt.slice(0, read);
      if (read === opening - (opening % stepTokens)) await this.#openings.keep(this.#kept);
    }
    return prompt.slice(read);
  }

  /** Returns a function of the text so far that gives the grammar for the next token. */
  async #createGrammar({
    schema,
    tools,
    mustCall,
  }: GenerateOptions): Promise<(text: string) => object | undefined> {
    const create = async (grammar: string) => {
      const { LlamaGrammarEvaluationState: State } = this.#library.package;
      return new State({ model: this.#model, grammar: await this.#library.llama.createGrammar({ grammar }) });
    };
    if (schema !== undefined) {
      const state = await create(buildSchemaGrammar(schema));
      return () => state;
    }
    if (tools.length === 0) return () => undefined;
    const rules = buildCallGrammar(tools);
    const state = await create(
      mustCall ? `${rules.replace(/^root ::= /m, `root ::= "${CALL_MARK}" `)}` : rules,
    );
    return (text) => (mustCall || text.trimEnd().includes(CALL_MARK) ? state : undefined);
  }
}

function findStop(text: string, stops: readonly string[], from: number): number | undefined {
  const places = stops
    .map((stop) => text.indexOf(stop, Math.max(0, from - stop.length)))
    .filter((at) => at >= 0);
  return places.length === 0 ? undefined : Math.min(...places);
}

/** Returns the characters at the end of a text that may be the beginning of a mark. */
function countHeld(text: string, marks: readonly string[]): number {
  const lengths = marks.map((mark) => {
    for (let length = Math.min(mark.length, text.length); length > 0; length--)
      if (text.endsWith(mark.slice(0, length))) return length;
    return 0;
  });
  return Math.max(0, ...lengths);
}

/** Returns true if the last tokens repeat a cycle so often that the reply is in a loop, as replies of small models often are. */
export function isLooping(tokens: readonly number[]): boolean {
  const { repeats, tokens: least, cycle: longest } = LLAMA_LIMITS.loop;
  // Checking at every token would take longer than generating one with a small model.
  if (tokens.length < least || tokens.length % 8 !== 0) return false;
  for (let cycle = 1; cycle <= longest; cycle++) {
    const length = Math.max(least, cycle * repeats);
    if (length > tokens.length) return false;
    let at = tokens.length - 1;
    while (at >= tokens.length - length + cycle && tokens[at] === tokens[at - cycle]) at -= 1;
    if (at < tokens.length - length + cycle) return true;
  }
  return false;
}
