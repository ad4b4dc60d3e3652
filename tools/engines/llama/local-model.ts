import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ChatMessage, ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import { LLAMA_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { CHATML, ChatPrompt, type JinjaTemplate } from './chat-prompt.ts';
import { buildCallGrammar, buildSchemaGrammar } from './schema-grammar.ts';

/** The parts of `node-llama-cpp` that are used. The package is in the user's cache, so that its own types are not here. */
interface LlamaPackage {
  getLlama(options: object): Promise<Llama>;
  LlamaGrammarEvaluationState: new (of: { model: LlamaModel; grammar: object }) => object;
}

interface Llama {
  loadModel(options: object): Promise<LlamaModel>;
  createGrammar(options: { grammar: string }): Promise<object>;
}

interface LlamaModel {
  readonly tokens: {
    readonly bos: number | null;
    readonly bosString: string | null;
    readonly eosString: string | null;
    readonly shouldPrependBosToken: boolean;
  };
  readonly fileInfo: { readonly metadata: { readonly tokenizer?: { readonly chat_template?: unknown } } };
  tokenize(text: string, specialTokens?: boolean): number[];
  detokenize(tokens: readonly number[], specialTokens?: boolean, lastTokens?: readonly number[]): string;
  createContext(options: object): Promise<{ getSequence(): LlamaSequence }>;
}

interface LlamaSequence {
  readonly nextTokenIndex: number;
  adaptStateToTokens(tokens: number[], allowShift: boolean): Promise<void>;
  clearHistory(): Promise<void>;
  evaluateWithoutGeneratingNewTokens(tokens: number[]): Promise<void>;
  evaluate(tokens: number[], options: object): AsyncGenerator<number, void>;
}

/** The library in the user's cache, and what it reports about its work. */
export interface LlamaLibrary {
  readonly llama: Llama;
  readonly package: LlamaPackage;
  readonly createTemplate: (source: string) => JinjaTemplate;
  /** Returns the errors that llama.cpp wrote into its log since the last call. */
  readonly takeErrors: () => string | undefined;
}

/** Lines of llama.cpp's log that are kept: the cause of a failure comes before what follows from it. */
const MAX_ERRORS = 8;

/**
 * Loads the library from its folder.
 *
 * @param gpu the graphics interface whose package is installed there
 */
export async function loadLibrary(folder: string, gpu: string | false): Promise<LlamaLibrary> {
  const require = createRequire(path.join(folder, 'package.json'));
  const load = async <Module>(name: string, from = require): Promise<Module> =>
    await import(pathToFileURL(from.resolve(name)).href);
  const entry = require.resolve('node-llama-cpp');
  const own = await load<LlamaPackage>('node-llama-cpp');
  const { Template } = await load<{ Template: new (source: string) => JinjaTemplate }>(
    '@huggingface/jinja',
    createRequire(entry),
  );
  let errors: string[] = [];
  const llama = await own.getLlama({
    build: 'never',
    gpu,
    progressLogs: false,
    logLevel: 'error',
    logger: (_level: string, text: string) => {
      errors.push(text.trim());
      errors = errors.slice(-MAX_ERRORS);
    },
  });
  return {
    llama,
    package: own,
    createTemplate: (source) => new Template(source),
    takeErrors() {
      const taken = errors;
      errors = [];
      return taken.length === 0 ? undefined : taken.join('; ');
    },
  };
}

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
}

/** The mark with which a reply begins a tool call. */
export const CALL_MARK = '<tool_call>';
const REPLACEMENT = '\uFFFD';

/** A model in memory with one context, which answers one request at a time. */
export class LocalModel {
  readonly contextTokens: number;
  readonly prompt: ChatPrompt;
  readonly #library: LlamaLibrary;
  readonly #model: LlamaModel;
  readonly #sequence: LlamaSequence;
  /** The prompt tokens in the context that were read in whole steps. */
  #kept: readonly number[] = [];

  private constructor(
    library: LlamaLibrary,
    model: LlamaModel,
    sequence: LlamaSequence,
    contextTokens: number,
  ) {
    this.contextTokens = contextTokens;
    this.#library = library;
    this.#model = model;
    this.#sequence = sequence;
    const { chat_template: given } = model.fileInfo.metadata.tokenizer ?? {};
    const source = typeof given === 'string' ? given : CHATML;
    const { bosString, eosString } = model.tokens;
    this.prompt = new ChatPrompt(source, library.createTemplate(source), {
      bos_token: bosString ?? '',
      eos_token: eosString ?? '',
    });
  }

  /** @param threads processor threads that compute; more than the free ones wait for each other and are far slower */
  static async load(
    library: LlamaLibrary,
    file: string,
    { contextTokens, threads }: { readonly contextTokens: number; readonly threads: number },
  ): Promise<LocalModel> {
    const model = await library.llama.loadModel({ modelPath: file });
    const context = await model.createContext({
      contextSize: contextTokens,
      batchSize: LLAMA_LIMITS.stepTokens,
      threads,
    });
    return new LocalModel(library, model, context.getSequence(), contextTokens);
  }

  /**
   * Returns the tokens of a prompt. Marks of the chat format are recognised only in what the template wrote.
   *
   * @throws Error of the template
   */
  tokenize(messages: readonly ChatMessage[], tools: readonly ToolDefinition[]): number[] {
    const { bos, shouldPrependBosToken } = this.#model.tokens;
    const tokens = this.prompt
      .render(messages, tools)
      .pieces.flatMap(({ text, message }) => this.tokenizeText(text, message === undefined));
    return bos !== null && shouldPrependBosToken && tokens[0] !== bos ? [bos, ...tokens] : tokens;
  }

  tokenizeText(text: string, hasMarks = false): number[] {
    return this.#model.tokenize(text, hasMarks);
  }

  /** Yields the text of a reply as it is generated; ends when the signal is aborted. */
  async *generate(prompt: number[], options: GenerateOptions): AsyncGenerator<string, GeneratedEnd> {
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
    return { finish, tokens: generated.length };
  }

  /**
   * Reads a prompt up to its last step, whose tokens are returned. Steps begin at fixed tokens, and those that an earlier prompt shares are
   * kept: the numbers are the same as if they were read again, so that a reply does not depend on the requests before.
   */
  async #read(prompt: number[], signal: AbortSignal): Promise<number[]> {
    const { stepTokens } = LLAMA_LIMITS;
    const shared = this.#kept.findIndex((token, index) => token !== prompt[index]);
    const most = Math.min(shared === -1 ? this.#kept.length : shared, prompt.length - 1);
    let read = most - (most % stepTokens);
    await this.#sequence.adaptStateToTokens(prompt.slice(0, read), false);
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

/** Returns true if the last tokens repeat a cycle so often that they will not end: small models do so. */
export function isLooping(tokens: readonly number[]): boolean {
  const { repeats, tokens: least, cycle: longest } = LLAMA_LIMITS.loop;
  // A look at every token would take longer than a token of a small model.
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
