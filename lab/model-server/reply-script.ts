import { readFileSync } from 'node:fs';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { isJsonObject, type JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { parseJsonLine } from '@gaia-mesh/core/system/json-line.ts';
import type {
  ModelScript,
  ModelServerRequest,
  ScriptedReply,
} from '@gaia-mesh/tools/fixtures/model-server.ts';
import * as z from 'zod';

const object = z.custom<JsonObject>(isJsonObject, 'must be an object');

/** A line of a script: a reply, and the requests that it fits. Without `when` it fits every request. */
const lineSchema = z.strictObject({
  /** A regular expression that some message of the request must match. */
  when: z.string().exactOptional(),
  /** Number of times that the line is used, 1 by default; the last fitting line is used without limit. */
  times: z.int().positive().exactOptional(),
  content: z.union([z.string(), object]).exactOptional(),
  thoughts: z.string().exactOptional(),
  tool_calls: z
    .array(z.strictObject({ name: z.string(), arguments: z.union([object, z.string()]) }))
    .exactOptional(),
  finish: z.enum(['stop', 'length', 'tool_calls', 'filtered']).exactOptional(),
  status: z.int().min(400).max(599).exactOptional(),
  error: z.string().exactOptional(),
});
type Line = z.infer<typeof lineSchema>;

/**
 * Reads a script of replies: a request gets the first fitting line that has uses left, or else the last fitting one.
 *
 * @throws MeshError `config` with file and line for an invalid script
 */
export function readScript(file: string): ModelScript {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new MeshError('config', `${file}: ${toErrorMessage(error)}`, { cause: error });
  }
  const lines = text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const where = `${file}:${index + 1}`;
    const parsed = parseJsonLine(line, lineSchema, where);
    return [{ line: parsed, fits: compilePattern(parsed, where), left: parsed.times ?? 1 }];
  });
  return (request) => {
    const fitting = lines.filter(({ fits }) => fits(request));
    const next = fitting.find(({ left }) => left > 0) ?? fitting.at(-1);
    if (next === undefined) return { content: 'The script has no line for this request.' };
    next.left -= 1;
    return toScriptedReply(next.line);
  };
}

function compilePattern({ when }: Line, where: string): (request: ModelServerRequest) => boolean {
  if (when === undefined) return () => true;
  try {
    const pattern = new RegExp(when, 'i');
    return ({ messages }) => messages.some(({ content }) => pattern.test(content));
  } catch (error) {
    throw new MeshError('config', `${where}: when: ${toErrorMessage(error)}`, { cause: error });
  }
}

function toScriptedReply({ when: _when, times: _times, tool_calls, ...said }: Line): ScriptedReply {
  return tool_calls === undefined ? said : { ...said, toolCalls: tool_calls };
}
