import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import type net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { LLAMA_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { isolateCommand } from '@gaia-mesh/core/system/process/without-network.ts';
import { formatCommandLine } from '@gaia-mesh/core/system/shell-word.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { openPort } from '@gaia-mesh/core/transports/tcp/tcp-transport.ts';
import * as z from 'zod';
import { sendRequest } from '../../http/fetch.ts';
import { type GgufFacts, readGguf } from './gguf.ts';
import { findInstallation } from './installation.ts';

/** The messages to the process. */
export const modelMessageSchema = z.union([
  /** The first one, with its listening socket: the process has no network to open one. */
  z.strictObject({
    token: z.string(),
    folder: z.string(),
    gpu: z.union([z.string(), z.literal(false)]),
    /** The folder of the process's files; the launcher removes it. */
    states: z.string(),
  }),
  /** Has it load a model. */
  z.strictObject({ name: z.string(), file: z.string(), contextTokens: z.int().positive() }),
]);

const answerSchema = z.union([
  z.strictObject({ loaded: z.string() }),
  z.strictObject({ failed: z.string(), why: z.string() }),
]);

/** The variables that tell agents, which the launcher starts afterwards, where the process listens, and its key. */
const LLAMA_URL = 'GAIA_MESH_LLAMA_URL';
const LLAMA_TOKEN = 'GAIA_MESH_LLAMA_TOKEN';

/** Variables that the library, its drivers and the system's loader read. No key is among them. */
const VARIABLES =
  /^(PATH|HOME|USERPROFILE|LANG|LC_\w+|TMPDIR|TEMP|TMP|SystemRoot|LD_LIBRARY_PATH|(CUDA|GGML|VK|HIP)_\w+)$/i;

/** Characters of the process's last words that are kept. */
const STDERR_CHARACTERS = 2_000;

interface Started {
  readonly child: ChildProcess;
  readonly url: string;
  readonly token: string;
  /** Settles when the process has ended, with a description. */
  readonly ended: Promise<string>;
}

let started: Promise<Started> | undefined;
const loads = new Map<string, Promise<void>>();

/**
 * Makes the model process of this command serve a model under the name that agents use for it; starts the process if none is running.
 *
 * @param model the path of a GGUF file, as the user wrote it
 * @returns the address of its API, which is OpenAI's, and the key
 * @throws MeshError `config` for a file that cannot be used, `engine` for a model that cannot be loaded
 */
export async function launchModel(
  model: string | undefined,
  context?: number,
): Promise<Pick<Started, 'url' | 'token'>> {
  if (model === undefined)
    throw new MeshError(
      'usage',
      `--engine llama: name a GGUF file with --model (${formatCommandLine('model', ['list'])} shows those here)`,
    );
  const loading = loads.get(model) ?? load(model, context);
  loads.set(model, loading);
  try {
    await loading;
    const { url, token } = (await started) ?? { url: '', token: '' };
    Object.assign(process.env, { [LLAMA_URL]: url, [LLAMA_TOKEN]: token });
    return { url, token };
  } catch (error) {
    loads.delete(model);
    throw error;
  }
}

/** Tokens of the context of a model whose tokenizer alone is used. */
const TOKENIZER_CONTEXT = 256;
/** Maximum characters of one request for counts: in JSON they stay below the bytes that the process reads. */
const COUNTED_CHARACTERS = LLAMA_LIMITS.bodyBytes / 8;
const countsSchema = z.object({ tokens: z.array(z.int().nonnegative()) });

/**
 * Counts the tokens of texts with the tokenizer of a GGUF file.
 *
 * @throws MeshError `config` and `engine` as {@link launchModel} does, `limit` for a text that is too long
 */
export async function countModelTokens(
  model: string,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<number[]> {
  await launchModel(model, TOKENIZER_CONTEXT);
  const { url = '', token = '' } = (await started) ?? {};
  const counts: number[] = [];
  for (const part of splitTexts(texts)) {
    const response = await sendRequest(new URL(`${url}/tokenize`), {
      headers: { Authorization: `Bearer ${token}` },
      body: JSON.stringify({ model, texts: part }),
      signal,
    });
    if (!response.ok) throw new MeshError('engine', `model ${model}: HTTP ${response.status}`);
    counts.push(...countsSchema.parse(await response.json()).tokens);
  }
  return counts;
}

function splitTexts(texts: readonly string[]): string[][] {
  const parts: string[][] = [];
  let characters = Number.POSITIVE_INFINITY;
  for (const text of texts) {
    if (text.length > COUNTED_CHARACTERS)
      throw new MeshError(
        'limit',
        `a text of ${text.length} characters: a model counts the tokens of at most ${COUNTED_CHARACTERS}`,
      );
    characters += text.length;
    if (characters > COUNTED_CHARACTERS) {
      parts.push([]);
      characters = text.length;
    }
    parts.at(-1)?.push(text);
  }
  return parts;
}

async function load(model: string, context: number | undefined): Promise<void> {
  const file = resolveUserPath(model);
  const facts = readGguf(file);
  const contextTokens = Math.min(
    context ?? LLAMA_LIMITS.contextTokens,
    facts.contextTokens ?? Number.POSITIVE_INFINITY,
  );
  checkMemory(file, facts, contextTokens, process.availableMemory());
  started ??= start();
  const { child, ended } = await started.catch((error: unknown) => {
    started = undefined;
    throw error;
  });
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  const answer = (message: unknown) => {
    const parsed = answerSchema.safeParse(message);
    if (!parsed.success) return;
    if ('loaded' in parsed.data && parsed.data.loaded === model) resolve(undefined);
    if ('failed' in parsed.data && parsed.data.failed === model) resolve(parsed.data.why);
  };
  // The channel keeps this process alive only while it waits.
  child.on('message', answer);
  child.channel?.ref();
  const timer = setTimeout(
    () =>
      reject(
        new MeshError('engine', `model ${file}: it was not loaded within ${LLAMA_LIMITS.loadMs / 1000} s`),
      ),
    LLAMA_LIMITS.loadMs,
  );
  void ended.then((how) => resolve(how));
  child.send({ name: model, file, contextTokens });
  try {
    const why = await promise;
    if (why !== undefined)
      throw new MeshError('engine', `model ${file} (${facts.architecture}): ${explainFault(why)}`);
  } finally {
    clearTimeout(timer);
    child.off('message', answer);
    child.channel?.unref();
  }
}

/** Explains a failure of the library, some of whose messages mean nothing to a user. */
function explainFault(why: string): string {
  const architecture = /unknown model architecture: '([^']*)'/.exec(why)?.[1];
  if (architecture !== undefined)
    return `the installed version of llama.cpp does not know the architecture ${architecture}: take another model`;
  if (/not within the file bounds|corrupted or incomplete/.test(why))
    return 'the file is incomplete or damaged: fetch it again';
  if (/insufficient|out of memory|not enough|failed to allocate/i.test(why))
    return `there is too little memory for it: take a smaller model, or a smaller --context (${why})`;
  return why;
}

/** @throws MeshError `config` for a model that needs more memory than there is */
export function checkMemory(
  file: string,
  { bytes, contextBytes = 0 }: Pick<GgufFacts, 'bytes' | 'contextBytes'>,
  contextTokens: number,
  available: number,
): void {
  const needed = bytes + contextBytes * contextTokens + LLAMA_LIMITS.overheadBytes;
  if (needed <= available) return;
  const shown = (size: number) => `${(size / 1e9).toFixed(1)} GB`;
  throw new MeshError(
    'config',
    `model ${file}: it needs about ${shown(needed)} of memory with a context of ${contextTokens} tokens, and ${shown(available)} are free: ` +
      'take a smaller model, or a smaller --context',
    { setting: 'model' },
  );
}

async function start(): Promise<Started> {
  const { folder, gpu } = findInstallation();
  const server = await openPort(0);
  const token = `llama-${randomBytes(24).toString('hex')}`;
  const states = mkdtempSync(path.join(tmpdir(), 'gaia-mesh-model-'));
  const program = fileURLToPath(new URL('./model-program.ts', import.meta.url));
  // The model may come from anywhere, and native code reads it: it gets no network where the system allows it.
  const { program: command, args } = isolateCommand([program]);
  const child = spawn(command, args, {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // A terminal's Ctrl-C is the launcher's to handle.
    detached: true,
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => VARIABLES.test(name))),
  });
  let words = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-STDERR_CHARACTERS);
  });
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  child.on('error', (error) => resolve(error.message));
  child.on('exit', (code, signal) => {
    rmSync(states, { recursive: true, force: true });
    started = undefined;
    loads.clear();
    const last = words.trim().split('\n').at(-1) ?? '';
    resolve(`its process ended with ${signal ?? `exit code ${code}`}${last === '' ? '' : `: ${last}`}`);
  });
  server.on('connection', (socket) => socket.destroy());
  const { port } = server.address() as net.AddressInfo;
  child.send({ token, folder, gpu, states }, server, () => server.close());
  child.unref();
  child.channel?.unref();
  (child.stderr as net.Socket | null)?.unref();
  return { child, ended, url: `http://127.0.0.1:${port}/v1`, token };
}

/** Bytes at either end of a file that identify it: names and sizes at its beginning, numbers at its end. */
const DIGEST_BYTES = 64 * 1024;

/** Returns what identifies the file of a model, so that answers of another one under the same name are not taken for its own. */
export function identifyModel(model: string): string | undefined {
  try {
    const file = resolveUserPath(model);
    const { bytes } = readGguf(file);
    const hash = createHash('sha256').update(String(bytes));
    const descriptor = openSync(file, 'r');
    for (const at of [0, Math.max(0, bytes - DIGEST_BYTES)]) {
      const part = Buffer.alloc(DIGEST_BYTES);
      hash.update(part.subarray(0, readSync(descriptor, part, 0, DIGEST_BYTES, at)));
    }
    closeSync(descriptor);
    return `gguf:${hash.digest('hex').slice(0, 32)}`;
  } catch {
    return undefined; // The launch explains what is wrong with it.
  }
}
