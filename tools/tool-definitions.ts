import type { ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import type { Partner } from '@gaia-mesh/core/contracts/tool.ts';
import * as z from 'zod';
import { dataTools } from './data-tools.ts';
import { buildSchema } from './engines/schemas/portable-schema.ts';
import { describeContent, type FileContent, findReader } from './files/reading/readers.ts';

/**
 * Tools that read a file, and what they read. A model is offered one of them for all, under the name of the first: which one it
 * takes is decided by the file's extension.
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

/** The data tools that a model may ask among `partners`; the store is the runner's alone. */
function listToolNames(partners: readonly Partner[]): string[] {
  return [...new Set(partners.map(({ tool }) => tool))].filter(
    (tool) => Object.hasOwn(dataTools, tool) && dataTools[tool]?.needs?.store === undefined,
  );
}

/** Tools that are for files of one kind alone. */
const ONLY_FOR: Readonly<Record<string, FileContent>> = {
  query_table: 'table',
  analyze_image: 'picture',
  understand_audio: 'recording',
  execute_python_file: 'program',
};

/** What is in an archive, or in a file of no known kind, may be of any. */
function isSuitable(tool: string, file: string | undefined): boolean {
  const content = file === undefined ? 'unknown' : describeContent(file);
  return content === 'archive' || content === 'unknown' || (ONLY_FOR[tool] ?? content) === content;
}

/**
 * The data tools among `partners`, as a model sees them.
 *
 * @param file the one that belongs to the question: what is for files of another kind is not offered beside it
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
 * The tool that a call by a model is for, or undefined where it may ask no such tool. A tool that is not shown by its own name may be
 * called by it all the same: models know the names from plans and messages.
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
 * All definitions go with each turn of a conversation, so every byte of them is paid for again and again. Bounds and unknown arguments are
 * checked when the call comes, with words that help, and need not be said beforehand.
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
      // A property that is named like a bound is none: what holds names is an object, a bound is not.
      const isBound = BOUNDS.includes(key) && !isJsonObject(value);
      return isBound ? [] : [[key, without(value)]];
    }),
  );
}

/** The argument by which models say why they call a tool: prompts ask for the reason (REQ-024), and some write it there. */
const REASON = 'reason';

/** The arguments as the tool knows them, and the reason beside. */
export function splitReason(given: JsonObject): { readonly reason: string; readonly args: JsonObject } {
  const { [REASON]: reason, ...args } = given;
  return { reason: typeof reason === 'string' ? reason : '', args };
}
