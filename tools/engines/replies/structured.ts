import type { ChatMessage } from '../../../core/contracts/engine.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/contracts/packet.ts';
import type { PromptKind } from '../../../core/contracts/prompt-part.ts';

/** The conversation with the schema said in words, for servers that do not hold a model to one. */
export function withSchema(messages: readonly ChatMessage[], schema: JsonObject): ChatMessage[] {
  return withSystem(
    messages,
    `Reply with one JSON object and nothing else. It must fit this JSON Schema: ${JSON.stringify(schema)}`,
    'structure',
  );
}

/** The conversation with something more in its system message; `kind` is what the token ledger has it for. */
export function withSystem(
  messages: readonly ChatMessage[],
  told: string,
  kind: PromptKind,
): [ChatMessage, ...ChatMessage[]] {
  const [first, ...rest] = messages;
  // In the message that is there: some models' templates know only one, and only as the first.
  if (first?.role !== 'system')
    return [{ role: 'system', content: told, parts: [{ kind, text: told }] }, ...messages];
  const text = `\n\n${told}`;
  const { content, parts = [{ kind: 'system', text: content }] } = first;
  return [{ role: 'system', content: content + text, parts: [...parts, { kind, text }] }, ...rest];
}

/**
 * Whether OpenAI's strict mode takes a schema: each object closed, and each of its properties required. Otherwise the schema
 * is asked for without it, which the model mostly holds to.
 */
export function isStrict(schema: JsonValue): boolean {
  if (typeof schema !== 'object' || schema === null) return true;
  if (!isJsonObject(schema)) return schema.every(isStrict);
  const { properties, required, additionalProperties } = schema;
  if (schema.type === 'object') {
    const names = isJsonObject(properties) ? Object.keys(properties) : [];
    if (additionalProperties !== false || !Array.isArray(required) || required.length !== names.length)
      return false;
  }
  return Object.values(schema).every(isStrict);
}
