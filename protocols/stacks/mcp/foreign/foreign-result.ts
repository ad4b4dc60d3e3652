import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@gaia-mesh/core/contracts/packet.ts';
import { LOST } from './foreign-messages.ts';

/** The checked result of a tool call: every part that can be read, and what was lost. */
export interface ForeignResult {
  readonly texts: readonly string[];
  /** Bytes that are declared to be an image. */
  readonly images: readonly Buffer[];
  readonly data: JsonObject | undefined;
  readonly isError: boolean;
  readonly lost: readonly string[];
}

/** Reads a result part by part: a part that cannot be read costs no other one. */
export function readForeignResult(result: JsonValue): ForeignResult {
  const { [LOST]: before, content, structuredContent, isError } = isJsonObject(result) ? result : {};
  const lost = isJsonList(before) ? before.filter((why) => typeof why === 'string') : [];
  const texts: string[] = [];
  const images: Buffer[] = [];
  for (const [index, block] of listBlocks(content).entries()) {
    const read = readBlock(block);
    const what = isJsonObject(block) && typeof block.type === 'string' ? `${block.type.slice(0, 64)} ` : '';
    if (read.lost !== undefined) lost.push(`content.${index}: ${what}${read.lost}`);
    if (read.text !== undefined) texts.push(read.text);
    if (read.image !== undefined) images.push(read.image);
  }
  return {
    texts,
    images,
    data: toData(structuredContent),
    isError: isError === true || isError === 'true',
    lost,
  };
}

/** A single block, and a text alone, count as a list of one. */
function listBlocks(content: JsonValue | undefined): readonly JsonValue[] {
  if (content === undefined || content === null) return [];
  return isJsonList(content) ? content : [content];
}

/** Data of programs is an object here; a list or a plain value becomes the member of one. */
function toData(value: JsonValue | undefined): JsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  return isJsonObject(value) ? value : { value };
}

interface ReadBlock {
  readonly text?: string | undefined;
  readonly image?: Buffer;
  readonly lost?: string;
}

function readBlock(block: JsonValue): ReadBlock {
  if (typeof block === 'string') return { text: block };
  if (!isJsonObject(block)) return { lost: `is ${JSON.stringify(block)?.slice(0, 40)}, not an object` };
  const { type, text, data, mimeType, uri, name, resource } = block;
  switch (type) {
    case 'text':
      return typeof text === 'string' ? { text } : { lost: `has ${typeName(text)} in place of a text` };
    case 'image': {
      const bytes = decodeBase64(data);
      return bytes === undefined ? { lost: 'has no base64 data' } : { image: bytes };
    }
    case 'audio': {
      const size = decodeBase64(data)?.length;
      return size === undefined
        ? { lost: 'has no base64 data' }
        : { text: `[audio ${shown(mimeType)}, ${size} bytes, which is left out]` };
    }
    case 'resource_link':
      return { text: `[resource ${shown(uri ?? name)}, which is not read]` };
    case 'resource': {
      if (!isJsonObject(resource)) return { lost: 'has no resource in it' };
      if (typeof resource.text === 'string') return { text: resource.text };
      const size = decodeBase64(resource.blob)?.length;
      if (size === undefined) return { lost: 'has neither text nor base64 data' };
      if (/^image\//.test(shown(resource.mimeType)))
        return { image: decodeBase64(resource.blob) ?? Buffer.alloc(0) };
      return { text: `[resource ${shown(resource.uri)}, ${size} bytes, which is left out]` };
    }
    default:
      return {
        text: typeof text === 'string' ? text : undefined,
        lost: 'is of a kind that is not known here',
      };
  }
}

/** Decodes base64 in each form that servers write: with line ends, in the alphabet of URLs, behind a data URI. */
function decodeBase64(value: JsonValue | undefined): Buffer | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.replace(/^data:[^,]{0,200},/, '').replace(/\s+/g, '');
  return /^[\w+/-]*={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}

function shown(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value.slice(0, 256) : 'of an unknown kind';
}

function typeName(value: JsonValue | undefined): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : value === undefined ? 'nothing' : `a ${typeof value}`;
}
