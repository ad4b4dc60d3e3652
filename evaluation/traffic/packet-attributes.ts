import type { JsonObject, JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import type { RecordedPacket } from '@gaia-mesh/core/recording/recording.ts';
import { toList, toObject, unpackJson } from './loose-values.ts';

/**
 * A recorded packet as attributes of its span, and back. Both directions are in this file so that nothing is lost between them.
 * The payload is stored only where the GenAI conventions have the contents of such a span, so that other tools show it.
 */
export const PACKET_ID = 'gaia_mesh.packet.id';
/** On the resource: the recording's first line. */
export const RECORDING_HEADER = 'gaia_mesh.recording';
/** On the resource: number of the recording's packets. */
export const PACKETS = 'gaia_mesh.packets';
/** Position in the recording. */
export const ORDER = 'gaia_mesh.order';

type Attribute = string | number | boolean | string[];
export type Attributes = Readonly<Record<string, Attribute>>;

/** Operation of a span in the conventions, which determines where its payload is stored. */
export type Operation = 'invoke_workflow' | 'invoke_agent' | 'execute_tool';

const NAMES = {
  cause: 'gaia_mesh.cause',
  inferred: 'gaia_mesh.cause.inferred',
  tool_us: 'gaia_mesh.tool_us',
  relayed: 'gaia_mesh.relayed.',
  work: 'gaia_mesh.work.',
  packet: 'gaia_mesh.packet.',
} as const;
const RELAYED = ['bytes', 'arrived_us', 'forwarded_us'] as const;
const WORK = ['received_us', 'sent_us', 'decode_us', 'engine_us', 'encode_us'] as const;

/** Returns all facts of a recorded packet except its payload. */
export function buildPacketAttributes(recorded: RecordedPacket, order: number): Attributes {
  const { cause, isCauseInferred, toolUs, relayed, work, packet } = recorded;
  const { payload: _payload, ...head } = packet;
  const all: Record<string, Attribute | null | undefined> = { [ORDER]: order };
  for (const [key, value] of Object.entries(head)) all[NAMES.packet + key] = value;
  all[NAMES.cause] = cause;
  all[NAMES.inferred] = isCauseInferred;
  all[NAMES.tool_us] = toolUs;
  if (relayed !== undefined) {
    const values = [relayed.bytes, Math.round(relayed.arrivedUs), Math.round(relayed.forwardedUs)];
    for (const [index, name] of RELAYED.entries()) all[NAMES.relayed + name] = values[index];
  }
  if (work !== undefined) {
    const values = [work.receivedAt, work.sentAt, work.decodeUs, work.engineUs, work.encodeUs];
    for (const [index, name] of WORK.entries()) all[NAMES.work + name] = values[index];
  }
  return omitAbsent(all);
}

/** Returns the payload of a packet in the attribute that the conventions provide. */
export function buildContentAttributes(operation: Operation, payload: JsonObject): Attributes {
  const text = JSON.stringify(payload);
  const parts = [{ type: 'text', content: text }];
  switch (operation) {
    case 'invoke_workflow':
      return { 'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts }]) };
    case 'invoke_agent':
      return {
        'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts, finish_reason: 'stop' }]),
      };
    case 'execute_tool':
      return { 'gen_ai.tool.call.result': text };
  }
}

/** Restores the line of a recording from a span's attributes. `hasPayload` is false if the span has no contents. */
export function restoreEntry(attributes: JsonObject): {
  readonly entry: Readonly<Record<string, unknown>>;
  readonly hasPayload: boolean;
} {
  const payload = restorePayload(attributes);
  const relayed = listBelow(attributes, NAMES.relayed);
  const work = listBelow(attributes, NAMES.work);
  const inferred = attributes[NAMES.inferred];
  return {
    entry: {
      cause: attributes[NAMES.cause] ?? null,
      inferred,
      tool_us: attributes[NAMES.tool_us] ?? null,
      relayed: Object.keys(relayed).length === 0 ? undefined : relayed,
      work: Object.keys(work).length === 0 ? undefined : work,
      packet: { ...listBelow(attributes, NAMES.packet), payload: payload ?? {} },
    },
    hasPayload: payload !== undefined,
  };
}

function restorePayload(attributes: JsonObject): JsonObject | undefined {
  switch (attributes['gen_ai.operation.name']) {
    case 'invoke_workflow':
      return readContent(attributes['gen_ai.input.messages']);
    case 'execute_tool':
      return toObject(unpackJson(attributes['gen_ai.tool.call.result']));
    default:
      return readContent(attributes['gen_ai.output.messages']);
  }
}

/** Returns the text of the first part of the first message. */
function readContent(messages: JsonValue | undefined): JsonObject | undefined {
  const [message] = toList(unpackJson(messages));
  const [part] = toList(toObject(message)?.parts);
  return toObject(unpackJson(toObject(part)?.content));
}

function listBelow(attributes: JsonObject, prefix: string): JsonObject {
  const entries = Object.entries(attributes).filter(([key]) => key.startsWith(prefix));
  return Object.fromEntries(entries.map(([key, value]) => [key.slice(prefix.length), value]));
}

/** Returns the attributes that have a value, because exporters accept no undefined ones. */
export function omitAbsent(all: Readonly<Record<string, Attribute | null | undefined>>): Attributes {
  const known: Record<string, Attribute> = {};
  for (const [key, value] of Object.entries(all))
    if (value !== undefined && value !== null) known[key] = value;
  return known;
}
