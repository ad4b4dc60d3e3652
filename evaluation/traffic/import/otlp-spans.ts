import { isJsonObject, type JsonObject, type JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { toList, toMicroseconds, toObject, toText } from '../loose-values.ts';
import type { ImportNotes, SourceValue } from '../message.ts';

/** A span of OTLP/JSON (opentelemetry-proto, trace.proto), with its attributes as plain values. */
export interface Span {
  readonly trace: string;
  readonly id: string;
  readonly parent: string | undefined;
  readonly name: string;
  readonly startUs: number | undefined;
  readonly endUs: number | undefined;
  readonly attributes: JsonObject;
  readonly events: readonly { readonly name: string; readonly attributes: JsonObject }[];
  readonly service: string;
}

/** Maximum depth of lists and maps in attributes; no convention nests them deeper. */
const MAX_VALUE_DEPTH = 16;

/**
 * Reads all spans of the values, each of which is an export request (`resourceSpans`), with the contents that log records have for
 * them.
 */
export function readSpans(values: readonly SourceValue[], notes: ImportNotes): Span[] {
  const spans = values.flatMap(({ value }) =>
    toList(toObject(value)?.resourceSpans).flatMap((entry) => {
      const { resource, scopeSpans, instrumentationLibrarySpans } = toObject(entry) ?? {};
      const service = readServiceName(resource);
      const scopes = [...toList(scopeSpans), ...toList(instrumentationLibrarySpans)];
      return scopes.flatMap((scope) =>
        toList(toObject(scope)?.spans).map((span) => toSpan(toObject(span) ?? {}, service)),
      );
    }),
  );
  return addLogRecords(spans, values, notes);
}

function readServiceName(resource: unknown): string {
  return toText(readAttributes(toObject(resource)?.attributes)['service.name']) ?? 'service';
}

function toSpan(span: JsonObject, service: string): Span {
  return {
    trace: toText(span.traceId) ?? 'trace',
    id: toText(span.spanId) ?? '',
    parent: toText(span.parentSpanId),
    name: toText(span.name) ?? '',
    startUs: toMicroseconds(span.startTimeUnixNano),
    endUs: toMicroseconds(span.endTimeUnixNano),
    attributes: readAttributes(span.attributes),
    events: toList(span.events).map((event) => {
      const { name, attributes } = toObject(event) ?? {};
      return { name: toText(name) ?? '', attributes: readAttributes(attributes) };
    }),
    service,
  };
}

function readAttributes(list: unknown): JsonObject {
  const entries = toList(list).flatMap((item): [string, JsonValue][] => {
    const { key, value } = toObject(item) ?? {};
    return typeof key === 'string' && key !== '__proto__' ? [[key, toPlainValue(value, 0)]] : [];
  });
  return Object.fromEntries(entries);
}

/** Converts an `AnyValue` of common.proto. 64-bit integers may be texts. */
function toPlainValue(value: unknown, depth: number): JsonValue {
  const any = toObject(value);
  if (any === undefined || depth > MAX_VALUE_DEPTH) return null;
  const { stringValue, boolValue, intValue, doubleValue, bytesValue, arrayValue, kvlistValue } = any;
  if (intValue !== undefined) return toExactInteger(intValue);
  if (arrayValue !== undefined)
    return toList(toObject(arrayValue)?.values).map((item) => toPlainValue(item, depth + 1));
  if (kvlistValue !== undefined) {
    const entries = toList(toObject(kvlistValue)?.values).map((item): [string, JsonValue] => {
      const { key, value: inner } = toObject(item) ?? {};
      return [String(key), toPlainValue(inner, depth + 1)];
    });
    return Object.fromEntries(entries.filter(([key]) => key !== '__proto__'));
  }
  return stringValue ?? boolValue ?? doubleValue ?? bytesValue ?? null;
}

/** Converts an integer of 64 bits, which may be a text; one that a number would round stays a text. */
function toExactInteger(value: JsonValue): JsonValue {
  const number = Number(value);
  return typeof value === 'string' && !Number.isSafeInteger(number) ? value : number;
}

/** Attributes in which conventions put contents, or parts of them. */
const CONTENT_ATTRIBUTE =
  /^(?:gen_ai\.(?:input|output)\.messages|gen_ai\.system_instructions|gen_ai\.tool\.)/;
/** Names of the records and events in which conventions put contents. */
const CONTENT_EVENT =
  /^gen_ai\.(?:client\.inference\.operation\.details|choice|(?:system|user|assistant|tool)\.message|content\.(?:prompt|completion))$/;

/**
 * Adds the contents that log records (`resourceLogs`) have for spans, as their events. A record with contents whose span is not
 * among them becomes a span of its own.
 */
function addLogRecords(spans: readonly Span[], values: readonly SourceValue[], notes: ImportNotes): Span[] {
  const events = new Map(spans.map((span) => [`${span.trace} ${span.id}`, [...span.events]]));
  const alone: Span[] = [];
  for (const record of readLogRecords(values)) {
    const { name, attributes } = record;
    const hasContents = CONTENT_EVENT.test(name) || Object.keys(attributes).some(isContentAttribute);
    const own = events.get(`${record.trace} ${record.id}`);
    if (!hasContents) {
      notes.drop('log records without contents of messages', name);
    } else if (own !== undefined) {
      own.push({ name, attributes });
    } else {
      notes.guess('log records whose spans are not in the file, so they are spans of their own', name);
      alone.push(record);
    }
  }
  const withEvents = spans.map((span) => {
    return { ...span, events: events.get(`${span.trace} ${span.id}`) ?? span.events };
  });
  return [...withEvents, ...alone];
}

function isContentAttribute(name: string): boolean {
  return CONTENT_ATTRIBUTE.test(name);
}

/** Reads log records (logs.proto) as spans without a duration. */
function readLogRecords(values: readonly SourceValue[]): Span[] {
  return values.flatMap(({ value }) =>
    toList(toObject(value)?.resourceLogs).flatMap((entry) => {
      const { resource, scopeLogs } = toObject(entry) ?? {};
      const service = readServiceName(resource);
      return toList(scopeLogs).flatMap((scope) =>
        toList(toObject(scope)?.logRecords).map((item): Span => {
          const record = toObject(item) ?? {};
          const own = readAttributes(record.attributes);
          const body = toPlainValue(record.body, 0);
          const said = isJsonObject(body) ? body : body === null ? {} : { content: body };
          const name = toText(record.eventName) ?? toText(own['event.name']) ?? '';
          const atUs = toMicroseconds(record.timeUnixNano) ?? toMicroseconds(record.observedTimeUnixNano);
          return {
            trace: toText(record.traceId) ?? 'trace',
            id: toText(record.spanId) ?? '',
            parent: undefined,
            name,
            startUs: atUs,
            endUs: atUs,
            attributes: CONTENT_EVENT.test(name) ? { ...own, ...said } : own,
            events: CONTENT_EVENT.test(name) ? [{ name, attributes: { ...own, ...said } }] : [],
            service,
          };
        }),
      );
    }),
  );
}

/**
 * Rebuilds a value from attributes below `prefix` whose names are paths, as OpenInference flattens its lists:
 * `llm.input_messages.0.message.role` becomes `[{message: {role}}]`, or `[{role}]` without the wrapper `message`. Undefined if there
 * are none.
 */
export function unflattenAttributes(
  attributes: JsonObject,
  prefix: string,
  wrapper?: string,
): JsonValue | undefined {
  const root: Branch = new Map();
  for (const [key, value] of Object.entries(attributes)) {
    if (!key.startsWith(`${prefix}.`)) continue;
    const path = key.slice(prefix.length + 1).split('.');
    if (path.length > MAX_VALUE_DEPTH || path.includes('__proto__')) continue;
    let branch = root;
    for (const part of path.slice(0, -1)) {
      const inner = branch.get(part);
      const next: Branch = inner instanceof Map ? inner : new Map();
      branch.set(part, next);
      branch = next;
    }
    branch.set(path.at(-1) ?? '', value);
  }
  if (root.size === 0) return undefined;
  const value = growBranch(root);
  return wrapper === undefined ? value : unwrapValue(value, wrapper);
}

type Branch = Map<string, JsonValue | Branch>;

/** Converts a branch to a value. If all its keys are numbers it becomes a list in their order. */
function growBranch(branch: JsonValue | Branch): JsonValue {
  if (!(branch instanceof Map)) return branch;
  const entries = [...branch].map(([key, value]): [string, JsonValue] => [key, growBranch(value)]);
  if (!entries.every(([key]) => /^\d{1,6}$/.test(key))) return Object.fromEntries(entries);
  return entries.toSorted(([a], [b]) => Number(a) - Number(b)).map(([, value]) => value);
}

/** Removes the wrapper of OpenInference's names: `{message: {…}}`. */
function unwrapValue(value: JsonValue, key: string): JsonValue {
  if (!Array.isArray(value)) return value;
  return value.map((item) => (isJsonObject(item) && item[key] !== undefined ? item[key] : item));
}
