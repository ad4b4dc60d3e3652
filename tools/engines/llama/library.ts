import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** The parts of `node-llama-cpp` that are used. The package is in the user's cache, so that its own types are not here. */
interface LlamaPackage {
  getLlama(options: object): Promise<Llama>;
  LlamaGrammarEvaluationState: new (of: { model: LlamaModel; grammar: object }) => object;
}

interface Llama {
  loadModel(options: object): Promise<LlamaModel>;
  createGrammar(options: { grammar: string }): Promise<object>;
}

export interface LlamaModel {
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

export interface LlamaSequence {
  readonly nextTokenIndex: number;
  adaptStateToTokens(tokens: number[], allowShift: boolean): Promise<void>;
  clearHistory(): Promise<void>;
  evaluateWithoutGeneratingNewTokens(tokens: number[]): Promise<void>;
  evaluate(tokens: number[], options: object): AsyncGenerator<number, void>;
  saveStateToFile(file: string): Promise<{ readonly fileSize: number }>;
  loadStateFromFile(file: string, risk: { readonly acceptRisk: true }): Promise<void>;
}

/** The library in the user's cache, and what it reports about its work. */
interface LlamaLibrary {
  readonly llama: Llama;
  readonly package: LlamaPackage;
  /** Compiles a chat template. */
  readonly compileTemplate: (source: string) => (values: Record<string, unknown>) => string;
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
  const { Template } = await load<{
    Template: new (source: string) => { render(values: Record<string, unknown>): string };
  }>('@huggingface/jinja', createRequire(entry));
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
    compileTemplate(source) {
      const template = new Template(source);
      return (values) => template.render(values);
    },
    takeErrors() {
      const taken = errors;
      errors = [];
      return taken.length === 0 ? undefined : taken.join('; ');
    },
  };
}
