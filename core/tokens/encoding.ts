/**
 * Encoding with which a model's server turns a conversation into tokens: the vocabulary, and the marks that
 * its chat format puts around messages. OpenAI's published encodings are known; the tokens of any other model
 * are estimated with `o200k_base`, and the difference to the server's count is reported as the residual.
 */
export interface Encoding {
  readonly name: 'o200k_base' | 'o200k_harmony' | 'cl100k_base';
  /** True if it is the model's own encoding. */
  readonly known: boolean;
  /** Splits a text into tokens; tokens that end within a character are joined with the one that ends it. */
  pieces(text: string): Iterable<Piece>;
  /** Tokens of the marks around a message: start, role, separator, end. */
  readonly messageMarks: number;
  /** Tokens after the last message that begin the reply. */
  readonly replyMarks: number;
}

interface Piece {
  readonly text: string;
  readonly tokens: number;
}

/**
 * Marks of ChatML in the tokenizers of the GPT-4 family: `<|im_start|>role<|im_sep|>…<|im_end|>`, then
 * `<|im_start|>assistant<|im_sep|>`.
 */
const CHATML = { messageMarks: 4, replyMarks: 3 };
/**
 * Marks of Harmony, the format of gpt-oss (cookbook.openai.com/articles/openai-harmony):
 * `<|start|>role<|message|>…<|end|>`, then `<|start|>assistant`.
 */
const HARMONY = { messageMarks: 4, replyMarks: 2 };

/** Treats special tokens inside a text as text: servers do not let a document end a message. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

interface Vocabulary {
  readonly encode: (text: string, options: typeof AS_TEXT) => readonly number[];
  readonly decodeGenerator: (tokens: Iterable<number>) => Iterable<string>;
}

function* splitPieces(text: string, { encode, decodeGenerator }: Vocabulary): Iterable<Piece> {
  let taken = 0;
  let told = 0;
  const tokens = encode(text, AS_TEXT);
  function* counted() {
    for (const token of tokens) {
      taken += 1;
      yield token;
    }
  }
  for (const piece of decodeGenerator(counted())) {
    yield { text: piece, tokens: taken - told };
    told = taken;
  }
  if (told < tokens.length) yield { text: '', tokens: tokens.length - told };
}

/** Loads the encoding of `model` by its name, with a table of 1 to 2 MB. */
export async function loadEncoding(model: string): Promise<Encoding> {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  if (/^(gpt-3\.5|gpt-4(?![.o]|-o))/.test(name)) {
    const { cl100k } = await import('./cl100k.ts');
    return { ...CHATML, name: 'cl100k_base', known: true, pieces: (text) => splitPieces(text, cl100k) };
  }
  const { o200k } = await import('./o200k.ts');
  const pieces = (text: string) => splitPieces(text, o200k);
  if (name.startsWith('gpt-oss')) return { ...HARMONY, name: 'o200k_harmony', known: true, pieces };
  return { ...CHATML, name: 'o200k_base', known: /^(gpt-|chatgpt-|o[1-9])/.test(name), pieces };
}
