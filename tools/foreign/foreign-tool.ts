import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { RESTART_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type { Usage } from '@gaia-mesh/core/contracts/usage.ts';
import { formatForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import * as z from 'zod';
import type { DataTool, DataToolContext, DataToolReply } from '../data-tool.ts';
import { toPortableSchema } from '../engines/schemas/portable-schema.ts';
import { detectFileKind } from '../files/file-kind.ts';
import { toChatImage } from '../media/chat-image.ts';
import { isDeeper } from '../roles/trace.ts';
import type { ForeignPeer, ForeignReply, offerSchema } from './foreign.ts';

/** The input of a foreign tool: a tool to call with its arguments, or nothing to ask which tools there are. */
const foreignInput = z.strictObject({
  tool: z.string().min(1).max(128).exactOptional(),
  arguments: z.record(z.string(), z.json()).exactOptional(),
});

type ForeignOffer = z.infer<typeof offerSchema>;

interface ForeignToolSpec {
  readonly name: string;
  readonly description: string;
  readonly settings: (options: JsonObject) => ForeignSettings;
  readonly connect: (context: DataToolContext) => Promise<ForeignPeer>;
}

interface ForeignSettings {
  readonly timeout_s: number;
  readonly budget_tokens: number;
  readonly tools?: readonly string[];
  readonly asks_models: boolean;
}

/** Maximum nesting of data that is passed on: the payload adds levels of its own. */
const MAX_DATA_DEPTH = 32;
const MAX_DATA_BYTES = 256 * 1024;
const MAX_IMAGES = 8;
const IMAGE_QUESTION = 'Describe this image in detail: all text and numbers in it, word for word.';

/**
 * Creates a data tool that passes calls on to a foreign server. The agent owns the connection: the first call opens it, and after
 * it broke, a later call opens it again, at most {@link RESTART_LIMITS.restarts} times.
 */
export function createForeignTool(spec: ForeignToolSpec): DataTool<z.infer<typeof foreignInput>> {
  const { name, description } = spec;
  let peer: Promise<ForeignPeer> | undefined;
  let starts = 0;

  async function getPeer(context: DataToolContext): Promise<ForeignPeer> {
    if (peer === undefined) {
      if (starts > RESTART_LIMITS.restarts)
        throw new MeshError('tool', `the connection was lost ${starts} times, and is not made again`);
      const waitMs = starts === 0 ? 0 : RESTART_LIMITS.backoffMs * 2 ** (starts - 1);
      starts += 1;
      peer = delay(waitMs).then(() => spec.connect(context));
    }
    try {
      return await peer;
    } catch (error) {
      peer = undefined;
      if (error instanceof MeshError && !context.signal.aborted)
        context.warn?.({ lost: 'server', where: name, why: error.message });
      throw error;
    }
  }

  return {
    name,
    description,
    input: foreignInput,
    async run({ tool, arguments: args }, context): Promise<DataToolReply> {
      const settings = spec.settings(context.options);
      const own = await getPeer(context);
      if (tool === undefined) {
        const offer = await buildOffer(own, settings);
        for (const why of offer.data.refused) context.warn?.({ lost: 'tool', where: own.name, why });
        return offer;
      }
      const known = chooseTools(own, settings).find((each) => each.name === tool);
      if (known === undefined)
        throw new MeshError('tool', `it has no tool ${tool.slice(0, 128)} for this team`);
      if (args === undefined) return { text: JSON.stringify(known) };
      // Usage is noted before the call, since the call may fail. The tokens that the server uses cannot be known here.
      if (settings.asks_models) context.noteUsage?.(createUnknownUsage(name, own.name));
      try {
        const { signal, traceparent } = context;
        const options = { signal, traceparent, timeoutMs: settings.timeout_s * 1000 };
        const reply = await own.call(tool, args, options);
        for (const why of reply.lost) context.warn?.({ lost: 'part', where: `${own.name}, ${tool}`, why });
        return await buildToolReply(reply, context);
      } catch (error) {
        // A tool that refuses, or fails in its own way, has replied.
        if (error instanceof MeshError && error.code !== 'tool' && !context.signal.aborted)
          context.warn?.({ lost: 'reply', where: `${own.name}, ${tool}`, why: error.message });
        if (error instanceof MeshError && error.code === 'agent') {
          // The next call makes a new connection.
          peer = undefined;
          await own.close().catch(() => undefined);
        }
        throw error;
      }
    },
  };
}

/** Creates a usage entry with unknown figures, which are not zero. */
function createUnknownUsage(role: string, of: string): Usage {
  const unknown = { prompt_tokens: null, completion_tokens: null, cost_usd: null };
  return { role, model: `unknown, of ${of.slice(0, 64)}`, calls: 0, ...unknown };
}

function chooseTools({ tools }: ForeignPeer, { tools: named }: ForeignSettings) {
  return named === undefined ? tools : tools.filter(({ name }) => named.includes(name));
}

/** Offers as many tools as the token budget has room for, in their order, and the others by name. */
async function buildOffer(
  peer: ForeignPeer,
  settings: ForeignSettings,
): Promise<{ readonly text: string; readonly data: ForeignOffer }> {
  // The table of the tokenizer has 2 MB, which listing the tools does not need.
  const { o200k } = await import('@gaia-mesh/core/tokens/o200k.ts');
  const missing = (settings.tools ?? []).filter((name) => !peer.tools.some((tool) => tool.name === name));
  let left = settings.budget_tokens;
  const tools: { name: string; description: string; parameters: JsonObject }[] = [];
  const deferred: string[] = [];
  const refused = [...peer.refused, ...missing.map((name) => `${name}: there is no such tool`)];
  for (const { name, description, inputSchema } of chooseTools(peer, settings)) {
    const tool = { name, description, parameters: toPortableSchema(inputSchema) };
    const tokens = o200k.count(JSON.stringify(tool));
    const nameTokens = o200k.count(name) + 2;
    if (tokens <= left) {
      tools.push(tool);
      left -= tokens;
    } else if (nameTokens <= left) {
      deferred.push(name);
      left -= nameTokens;
    } else refused.push(`${name}: beyond the budget of ${settings.budget_tokens} tokens`);
  }
  const offer: ForeignOffer = { tools, deferred, refused };
  return { text: `${tools.length} tools of ${peer.name}`, data: offer };
}

/** Builds the reply for a model; the agent's own model describes the images, if it has one. */
async function buildToolReply(
  { texts, data, images, isError }: ForeignReply,
  context: DataToolContext,
): Promise<DataToolReply> {
  const said = texts.map((text) => text.toWellFormed());
  for (const image of images.slice(0, MAX_IMAGES)) said.push(await describePicture(image, context));
  if (images.length > MAX_IMAGES) said.push(`[${images.length - MAX_IMAGES} more images are left out]`);
  const json = data === undefined ? '' : formatForeignJson(data);
  // Servers repeat the data as text for older clients; if one does not, the model reads the data.
  if (data !== undefined && said.every((text) => text.trim() === '')) said.push(json);
  const text = said.join('\n');
  if (isError)
    throw new MeshError('tool', text === '' ? 'the call failed without a message' : text.slice(0, 4000));
  if (data === undefined) return { text };
  const kept = keepSmallMembers(data);
  const left = Object.keys(data).filter((key) => !(key in kept));
  if (left.length === 0) return { text, data };
  const why = `structured content is left out, as it is too large or nested too deeply: ${left.join(', ').slice(0, 200)}`;
  context.warn?.({ lost: 'part', where: 'structuredContent', why });
  return { text: `${text}\n[${why}]`, data: kept };
}

/** Keeps the members that fit, the small ones first. */
function keepSmallMembers(data: JsonObject): JsonObject {
  const sized = Object.entries(data)
    .filter(([, member]) => !isDeeper(member, MAX_DATA_DEPTH - 1))
    .map(([key, member]) => ({ key, member, bytes: Buffer.byteLength(JSON.stringify({ [key]: member })) }));
  const kept = new Set<string>();
  let bytes = 0;
  for (const one of sized.toSorted((a, b) => a.bytes - b.bytes)) {
    bytes += one.bytes;
    if (bytes <= MAX_DATA_BYTES) kept.add(one.key);
  }
  return Object.fromEntries(sized.flatMap(({ key, member }) => (kept.has(key) ? [[key, member]] : [])));
}

async function describePicture(bytes: Uint8Array, context: DataToolContext): Promise<string> {
  const kind = detectFileKind(bytes);
  if (kind?.kind !== 'image') return `[${bytes.length} bytes that are not an image by their first bytes]`;
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const folder = path.join(context.workspace, 'images');
  mkdirSync(folder, { recursive: true });
  const file = `${digest}.${kind.format}`;
  writeFileSync(path.join(folder, file), bytes, { mode: 0o600 });
  const what = `[image ${file}, ${bytes.length} bytes`;
  const image = toChatImage(bytes, kind.mediaType);
  if (context.model === undefined || image === undefined)
    return `${what}: kept in the agent's workspace; there is no model to describe it]`;
  try {
    const { content } = await context.model.chat({
      messages: [{ role: 'user', content: IMAGE_QUESTION, images: [image] }],
    });
    return `${what}, as ${context.model.name} sees it: ${content}]`;
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return `${what}: ${error.message}]`;
  }
}
