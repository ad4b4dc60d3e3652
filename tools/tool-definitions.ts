import type { ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import type { Partner } from '@gaia-mesh/core/contracts/tool.ts';
import * as z from 'zod';
import { dataTools } from './data-tools.ts';
import { buildSchema } from './engines/schemas/portable-schema.ts';
import { describeContent, type FileContent, findReader } from './files/reading/readers.ts';

/**
 * Tools that read a file, with the kinds of file they read. A model is offered a single tool for all of them, named like the first; the
 * file's extension decides which of them runs.
 */
const READERS: Readonly<Record<string, string>> = {
  read_file: 'text, code, web page',
  read_excel: 'spreadsheet',
  read_pdf: 'PDF',
  read_docx: 'Word',
  read_pptx: 'PowerPoint',
  read_zip: 'ZIP archive',
};
const ANY_READER = 'read_file';

/** Returns the data tools among `partners` that a model may call; only the runner uses the store. */
function listToolNames(partners: readonly Partner[]): string[] {
  return [...new Set(partners.map(({ tool }) => tool))].filter(
    (tool) => Object.hasOwn(dataTools, tool) && dataTools[tool]?.needs?.store === undefined,
  );
}

/** Tools that take files of one kind only. */
const ONLY_FOR: Readonly<Record<string, FileContent>> = {
  query_table: 'table',
  analyze_image: 'picture',
  understand_audio: 'recording',
  execute_python_file: 'program',
};

/** An archive, or a file of unknown kind, may hold any content. */
function isSuitable(tool: string, file: string | undefined): boolean {
  const content = file === undefined ? 'unknown' : describeContent(file);
  return content === 'archive' || content === 'unknown' || (ONLY_FOR[tool] ?? content) === content;
}

/**
 * Returns the definitions of the data tools among `partners` for a model.
 *
 * @param file the question's attachment; tools that take only files of another kind are left out
 */
export async function buildToolDefinitions(
  partners: readonly Partner[],
  file?: string,
): Promise<ToolDefinition[]> {
  const names = listToolNames(partners).filter((name) => isSuitable(name, file));
  const definitions = await Promise.all(names.map(loadDefinition));
  const isReader = ({ name }: ToolDefinition) => Object.hasOwn(READERS, name);
  const readers = definitions.filter(isReader);
  if (readers.length < 2 || !names.includes(ANY_READER)) return definitions;
  return definitions.flatMap((definition) => {
    if (definition.name === ANY_READER) return [mergeReaders(readers)];
    return isReader(definition) ? [] : [definition];
  });
}

/**
 * Returns the tool that a model's call is for, or undefined if it may call no such tool. A model may also call a tool that is not offered
 * by its own name: it may know the name from plans and messages.
 */
export function resolveCalledTool(
  name: string,
  args: JsonObject,
  partners: readonly Partner[],
): string | undefined {
  const names = listToolNames(partners);
  if (!names.includes(name)) return undefined;
  const reader = name === ANY_READER && typeof args.file === 'string' ? findReader(args.file) : undefined;
  return reader !== undefined && Object.hasOwn(READERS, reader) && names.includes(reader) ? reader : name;
}

function mergeReaders(readers: readonly ToolDefinition[]): ToolDefinition {
  const kinds = readers.map(({ name }) => READERS[name]).join(', ');
  const properties = readers.map(({ parameters }) => argumentsSchema.parse(parameters).properties);
  return {
    name: ANY_READER,
    description: `Reads a file: ${kinds}.`,
    parameters: { type: 'object', properties: Object.assign({}, ...properties), required: ['file'] },
  };
}

const argumentsSchema = z.looseObject({ properties: z.record(z.string(), z.json()).default({}) });

/**
 * All definitions go with each turn of a conversation, so every byte of them is paid for repeatedly. Bounds and unknown arguments are left
 * out; they are checked when the call comes, and the error explains them.
 */
async function loadDefinition(name: string): Promise<ToolDefinition> {
  const entry = dataTools[name];
  if (entry === undefined) throw new Error(`no data tool ${name}`);
  const { description, input } = await entry.load();
  return { name, description, parameters: stripBounds(buildSchema(input, 'input')) };
}

const BOUNDS = ['additionalProperties', 'minimum', 'maximum', 'minItems', 'maxItems'];

function stripBounds(schema: JsonObject): JsonObject {
  const without = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(without);
    return isJsonObject(value) ? stripBounds(value) : value;
  };
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => {
      // A property that is named like a bound is kept: it holds an object, a bound does not.
      const isBound = BOUNDS.includes(key) && !isJsonObject(value);
      return isBound ? [] : [[key, without(value)]];
    }),
  );
}

/** The argument in which models give their reason for a call: prompts ask for one (REQ-024), and some models put it there. */
const REASON = 'reason';

/** Splits a model's arguments into the reason and those that the tool takes. */
export function splitReason(given: JsonObject): { readonly reason: string; readonly args: JsonObject } {
  const { [REASON]: reason, ...args } = given;
  return { reason: typeof reason === 'string' ? reason : '', args };
}
