import { isModelFault, MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { toUsage } from '@gaia-mesh/core/contracts/usage.ts';
import * as z from 'zod';
import type { DataTool, DataToolContext, DataToolReply } from '../data-tool.ts';
import { loadEngine } from '../engines/registry.ts';
import { KEY_HOSTS } from '../engines/server-kind.ts';
import { detectFileKind } from '../files/file-kind.ts';
import { loadTaskFile } from '../files/find-file.ts';
import { formatMegabytes } from '../web/bounded-body.ts';
import { readServiceKey, resolveServiceUrl } from '../web/services.ts';
import { toChatImage } from './chat-image.ts';
import { askGemini, MAX_INLINE_BYTES } from './gemini.ts';
import { readImageText } from './read-image-text.ts';

const DEFAULT_MODEL = 'gpt-5-mini';
const DEFAULT_QUESTION =
  'Describe this image in detail: all text and numbers in it, word for word, and what is to be seen where.';

/** Maximum bytes of an image: what the services accept, less the overhead of base64. */
const MAX_IMAGE_BYTES = MAX_INLINE_BYTES;
/** Maximum pixels, 400 MB when unpacked. Cameras have half of it. */
const MAX_PIXELS = 100_000_000;
/** A model without a GPU takes minutes. */
const MODEL_TIMEOUT_MS = 300_000;
const MAX_RETRIES = 5;

const input = z.strictObject({
  file: z.string().min(1),
  question: z.string().trim().min(1).max(4000).exactOptional(),
});

interface Image {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  readonly question: string | undefined;
}

/**
 * Reads images with the first available model, in this order: the one at the user's `VISION_BASE_URL`, the agent's own model unless it
 * takes no images, OpenAI's with a key, Gemini with a key. Without any of them, text is recognised on this machine. The reply ends with the
 * name of the reader.
 */
export const analyzeImage: DataTool<z.infer<typeof input>> = {
  name: 'analyze_image',
  description: 'Looks at an image to answer a question.',
  input,
  async run({ file, question }, context) {
    const { name, bytes } = await loadTaskFile(context, file);
    const kind = detectFileKind(bytes);
    if (kind?.kind !== 'image') {
      throw new MeshError(
        'tool',
        `${name} is not an image by its first bytes: expected png, jpeg, gif, webp or bmp`,
      );
    }
    if (bytes.length > MAX_IMAGE_BYTES) {
      throw new MeshError(
        'tool',
        `${name} has ${bytes.length} bytes: images may have up to ${formatMegabytes(MAX_IMAGE_BYTES)}`,
      );
    }
    const pixels = countPixels(bytes, kind.format) ?? 1;
    if (pixels === 0 || pixels > MAX_PIXELS) {
      throw new MeshError('tool', `${name} says it has ${pixels} pixels: images may have 1 to ${MAX_PIXELS}`);
    }
    return readImage({ name, bytes, mediaType: kind.mediaType, question }, context);
  },
};

/**
 * Returns width times height if the file's header has them in a fixed place; otherwise undefined. A few bytes can claim an image that
 * fills the memory when it is unpacked.
 */
function countPixels(bytes: Uint8Array, format: string): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 26) return 0;
  switch (format) {
    case 'png':
      return view.getUint32(16) * view.getUint32(20);
    case 'gif':
      return view.getUint16(6, true) * view.getUint16(8, true);
    case 'bmp':
      // The height is negative where rows go down.
      return Math.abs(view.getInt32(18, true) * view.getInt32(22, true));
    default:
      return undefined;
  }
}

type Reader = (image: Image, context: DataToolContext) => Promise<DataToolReply>;

async function readImage(image: Image, context: DataToolContext): Promise<DataToolReply> {
  const { environment, model } = context;
  if (environment.VISION_BASE_URL) return askVisionModel(image, context);
  const own = model === undefined ? undefined : await readByModel(image, model);
  if (own?.reply !== undefined) return own.reply;
  const other = chooseReader(environment);
  const reply = await (other ?? recognizeImageText)(image, context);
  if (own === undefined) return reply;
  return {
    text: `${reply.text}\n[the agent's own model did not look at it]`,
    data: { ...reply.data, not_shown: own.why },
  };
}

function chooseReader(environment: DataToolContext['environment']): Reader | undefined {
  if (readServiceKey('vision', environment) !== undefined) return askVisionModel;
  return readServiceKey('gemini', environment) === undefined ? undefined : askGeminiVision;
}

/** Matches the errors of servers whose model takes no images; it is not asked again. */
const BLIND = /image|picture|vision|multimodal|mmproj|content type/i;
/** The name of the agent's model in replies. It is not the real one: a model reads it, and must read the same in a replay. */
const OWN_MODEL = "the agent's own model";
/** Errors of models that take no images, by engine name, because each process has one engine. */
const blind = new Map<string, string>();

/** Returns the reply of the agent's own model, or the reason why it did not see the image, so that the caller tries another way. */
async function readByModel(
  { bytes, mediaType, question = DEFAULT_QUESTION }: Image,
  model: NonNullable<DataToolContext['model']>,
): Promise<{ readonly reply?: DataToolReply; readonly why: string }> {
  const known = blind.get(model.name);
  const image = toChatImage(bytes, mediaType);
  if (known !== undefined || image === undefined) return { why: known ?? `it takes no ${mediaType}` };
  try {
    const { content } = await model.chat({
      messages: [{ role: 'user', content: question, images: [image] }],
    });
    if (content.trim() === '') return { why: 'it said nothing' };
    return { reply: buildImageReply(content, OWN_MODEL), why: '' };
  } catch (error) {
    if (!isModelFault(error)) throw error;
    const why = error.message.split('\n')[0]?.slice(0, 300).toWellFormed() ?? '';
    if (BLIND.test(why)) blind.set(model.name, why);
    return { why };
  }
}

const settings = z.looseObject({
  timeout_ms: z.int().positive().optional(),
  retries: z.int().nonnegative().optional(),
});

/** Asks a model by the request of an engine: streamed, with its retries and the reader of its replies. */
const askVisionModel: Reader = async (
  { name, bytes, mediaType, question = DEFAULT_QUESTION },
  { environment, options, signal, noteUsage },
) => {
  const host = resolveServiceUrl('vision', environment);
  const key = readServiceKey('vision', environment);
  const model = environment.VISION_MODEL || DEFAULT_MODEL;
  const image = toChatImage(bytes, mediaType);
  if (image === undefined)
    throw new MeshError(
      'tool',
      `${name} is ${mediaType}, which vision models do not take: convert it to png`,
    );
  const { timeout_ms: timeoutMs = MODEL_TIMEOUT_MS, retries = MAX_RETRIES } = settings.parse(options);
  const { chat } = await loadEngine('openai', {
    host,
    environment: key === undefined ? {} : { OPENAI_API_KEY: key, [KEY_HOSTS]: host },
    model,
    timeoutMs,
    // Reasoning models, among them the default, refuse a temperature.
    options: { temperature: null, max_retries: retries },
    prompts: (prompt) => {
      throw new Error(`no prompt is needed here: ${prompt}`);
    },
  });
  try {
    const turn = await chat?.(
      { messages: [{ role: 'user', content: question, images: [image] }] },
      {
        signal,
        countTokens: () => undefined,
        countUsage: (usage) => noteUsage?.(toUsage('analyze_image', usage)),
      },
    );
    return buildImageReply(turn?.content, model);
  } catch (error) {
    if (!isModelFault(error)) throw error;
    throw new MeshError('tool', `the vision model: ${error.message}`, { cause: error });
  }
};

const askGeminiVision: Reader = async ({ bytes, mediaType, question = DEFAULT_QUESTION }, context) => {
  const part = { inline_data: { mime_type: mediaType, data: Buffer.from(bytes).toString('base64') } };
  return buildImageReply(
    await askGemini([part, { text: question }], context, 'set VISION_BASE_URL'),
    'Gemini',
  );
};

const recognizeImageText: Reader = async ({ name, bytes }, { signal }) => {
  const { text, confidence } = await readImageText(bytes, name, signal);
  const lines = text.trim();
  const note =
    'No vision model is set (VISION_BASE_URL, OPENAI_API_KEY or GEMINI_API_KEY): only text was looked for, by recognition on this machine.';
  const result =
    lines === ''
      ? `not found: no text in ${name}.`
      : `Text in ${name} (confidence ${Math.round(confidence)} of 100):\n${lines}`;
  return { text: `${result}\n\n${note}`, data: { text: lines, confidence, by: 'text recognition' } };
};

function buildImageReply(content: string | null | undefined, by: string): DataToolReply {
  const text = content?.trim() ?? '';
  if (text === '') throw new MeshError('tool', 'the vision model gave no answer: ask in other words');
  return { text: `${text}\n\n[seen by ${by}]`, data: { by } };
}
