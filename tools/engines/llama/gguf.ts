import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { explainFileFault, MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { LLAMA_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';

/** The facts about a model that its GGUF file states; undefined for those that it leaves out. */
export interface GgufFacts {
  readonly bytes: number;
  readonly architecture: string;
  readonly name: string | undefined;
  readonly license: string | undefined;
  /** Tokens of the context that the model was trained on. */
  readonly contextTokens: number | undefined;
  /** Bytes that one token of the context takes in memory, as keys and values of 16 bits. */
  readonly contextBytes: number | undefined;
}

/** Types of values in the header (github.com/ggml-org/ggml, docs/gguf.md), with their bytes. */
const SIZES = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];
const STRING = 8;
const ARRAY = 9;
const VERSIONS = [2, 3];

/**
 * Reads what a GGUF file says about its model: the values before the tokenizer's tables, which are the first of the file, within
 * bounds, since the file comes from anywhere.
 *
 * @throws MeshError `config` for a file that cannot be read or is no GGUF file
 */
export function readGguf(file: string): GgufFacts {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch (cause) {
    throw new MeshError('config', `model ${file}: ${explainFileFault(cause)}`, { cause });
  }
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile()) throw new MeshError('config', `model ${file}: expected a GGUF file, not a folder`);
    return toFacts(status.size, readHeader(new HeaderReader(descriptor)));
  } catch (cause) {
    if (!(cause instanceof InvalidHeader)) throw cause;
    throw new MeshError('config', `model ${file}: expected a GGUF file, but ${cause.message}`, { cause });
  } finally {
    closeSync(descriptor);
  }
}

type Header = ReadonlyMap<string, string | number>;

class InvalidHeader extends Error {}

function readHeader(reader: HeaderReader): Header {
  if (reader.take(4).toString('latin1') !== 'GGUF') throw new InvalidHeader('it does not begin with GGUF');
  const version = reader.take(4).readUInt32LE();
  if (!VERSIONS.includes(version)) throw new InvalidHeader(`its version ${version} is not 2 or 3`);
  reader.takeLength(Number.MAX_SAFE_INTEGER, 'tensors');
  const count = reader.takeLength(LLAMA_LIMITS.headerValues, 'values');
  const header = new Map<string, string | number>();
  for (let index = 0; index < count; index++) {
    const key = reader.takeText();
    if (key.startsWith('tokenizer.')) break;
    const type = reader.take(4).readUInt32LE();
    if (type === ARRAY) skipArray(reader);
    else header.set(key, takeValue(reader, type));
  }
  return header;
}

function takeValue(reader: HeaderReader, type: number): string | number {
  if (type === STRING) return reader.takeText();
  const bytes = SIZES[type] ?? 0;
  if (bytes === 0) throw new InvalidHeader(`it has a value of the unknown type ${type}`);
  const value = reader.take(bytes);
  switch (type) {
    case 6:
      return value.readFloatLE();
    case 12:
      return value.readDoubleLE();
    case 10:
    case 11:
      return Number(value.readBigUInt64LE());
    default:
      return value.readUIntLE(0, bytes);
  }
}

function skipArray(reader: HeaderReader): void {
  const type = reader.take(4).readUInt32LE();
  const count = reader.takeLength(LLAMA_LIMITS.headerBytes, 'items of a list');
  const bytes = SIZES[type] ?? 0;
  if (type !== STRING && bytes === 0) throw new InvalidHeader(`it has a list of the unknown type ${type}`);
  if (type === STRING) for (let index = 0; index < count; index++) reader.takeText();
  else reader.take(count * bytes);
}

/** Reads the beginning of a file sequentially, only as far as needed. */
class HeaderReader {
  readonly #file: number;
  #taken = 0;

  constructor(file: number) {
    this.#file = file;
  }

  take(bytes: number): Buffer {
    if (this.#taken + bytes > LLAMA_LIMITS.headerBytes)
      throw new InvalidHeader(`its header has more than ${LLAMA_LIMITS.headerBytes} bytes`);
    const part = Buffer.alloc(bytes);
    const read = readSync(this.#file, part, 0, bytes, this.#taken);
    if (read < bytes) throw new InvalidHeader('it ends in its header');
    this.#taken += bytes;
    return part;
  }

  takeLength(most: number, what: string): number {
    const length = this.take(8).readBigUInt64LE();
    if (length > most) throw new InvalidHeader(`it claims to have ${length} ${what}`);
    return Number(length);
  }

  takeText(): string {
    return this.take(this.takeLength(LLAMA_LIMITS.headerBytes, 'bytes of text')).toString('utf8');
  }
}

function toFacts(bytes: number, header: Header): GgufFacts {
  const text = (key: string) => {
    const value = header.get(key);
    return typeof value === 'string' ? value : undefined;
  };
  const architecture = text('general.architecture');
  if (architecture === undefined) throw new InvalidHeader('it names no architecture');
  const number = (key: string) => {
    const value = header.get(`${architecture}.${key}`);
    return typeof value === 'number' && value > 0 ? value : undefined;
  };
  const layers = number('block_count');
  const heads = number('attention.head_count');
  const width = number('embedding_length');
  const headWidth = number('attention.key_length') ?? (width ?? 0) / (heads ?? 1);
  const keyHeads = number('attention.head_count_kv') ?? heads;
  return {
    bytes,
    architecture,
    name: text('general.name'),
    license: text('general.license'),
    contextTokens: number('context_length'),
    contextBytes:
      layers === undefined || keyHeads === undefined ? undefined : 2 * 2 * layers * keyHeads * headWidth,
  };
}
