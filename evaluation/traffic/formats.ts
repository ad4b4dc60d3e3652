import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { importChatLog } from './import/chat-log.ts';
import { isAnthropic, isRequest, isResponse } from './import/chat-shapes.ts';
import { findA2aMethod, hasRpc, importJsonRpc } from './import/json-rpc.ts';
import { importOtlp } from './import/otlp.ts';
import { whoAndWhen } from './import/who-and-when.ts';
import { toObject, unpackJson } from './loose-values.ts';
import type { Importer, SourceValue } from './message.ts';

interface Format {
  /** Description for `--help` and messages. */
  readonly about: string;
  readonly read: Importer;
  /** Returns the sign by which a value is recognized; undefined if it is not of this format. */
  readonly signOf: (value: unknown) => string | undefined;
}

/** Formats in the order in which they are tried: those that can contain another come first. */
const FORMATS = {
  otlp: {
    about: 'OpenTelemetry spans and log records (OTLP/JSON): GenAI, OpenInference, Vercel AI SDK',
    read: importOtlp,
    signOf: (value) => ['resourceSpans', 'resourceLogs'].find((key) => Array.isArray(toObject(value)?.[key])),
  },
  a2a: {
    about: 'JSON-RPC of A2A',
    read: importJsonRpc,
    signOf: findA2aMethod,
  },
  mcp: {
    about: 'JSON-RPC of MCP',
    read: importJsonRpc,
    signOf: (value) => (hasRpc(value) ? 'jsonrpc' : undefined),
  },
  'who-and-when': {
    about: 'labelled failures of the public Who&When set',
    ...whoAndWhen,
  },
  anthropic: {
    about: "requests of Anthropic's messages API",
    read: importChatLog,
    signOf: (value) => (findChats(value).some(isAnthropic) ? 'a request or response of messages' : undefined),
  },
  openai: {
    about: "requests of OpenAI's chat and responses APIs, and what looks like them",
    read: importChatLog,
    signOf: (value) =>
      findChats(value).some((chat) => isRequest(chat) || isResponse(chat))
        ? 'messages or input with a model'
        : undefined,
  },
} as const satisfies Readonly<Record<string, Format>>;

export type FormatName = keyof typeof FORMATS;

export const formatNames: readonly FormatName[] = Object.keys(FORMATS).filter((name): name is FormatName =>
  Object.hasOwn(FORMATS, name),
);

export function findFormat(name: FormatName): Format {
  return FORMATS[name];
}

/** Maximum values that are examined; the first ones of a log may be about something else. */
const PROBED_VALUES = 50;

/** Detects the format of a file, and returns the sign and where it was found; undefined if none is recognized. */
export function detectFormat(
  values: readonly SourceValue[],
): { name: FormatName; sign: string; where: string } | undefined {
  for (const name of formatNames) {
    for (const { value, where } of values.slice(0, PROBED_VALUES)) {
      const sign = findFormat(name).signOf(value);
      if (sign !== undefined) return { name, sign, where };
    }
  }
  return undefined;
}

/** Returns objects that may be requests or responses: the value itself, and the values of its keys. */
function findChats(value: unknown, depth = 0): JsonObject[] {
  const object = toObject(value);
  if (object === undefined) return [];
  const inner =
    depth >= 2 ? [] : Object.values(object).flatMap((item) => findChats(unpackJson(item), depth + 1));
  return [object, ...inner];
}
