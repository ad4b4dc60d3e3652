import { isJsonObject, type JsonObject, type JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { toList, toMicroseconds, toObject, toText } from '../loose-values.ts';
import type { SourceValue } from '../message.ts';

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
  readonly resource: JsonObject;
}

/** Maximum depth of lists and maps in attributes; no convention nests them deeper. */
const MAX_VALUE_DEPTH = 16;

/** Reads all spans of the values, each of which is an export request (`resourceSpans`). */
export function readSpans(values: readonly SourceValue[]): Span[] {
  return values.flatMap(({ value }) =>
    toList(toObject(value)?.resourceSpans).flatMap((entry) => {
      const { resource, scopeSpans, instrumentationLibrarySpans } = toObject(entry) ?? {};
      const about = readAttributes(toObject(resource)?.attributes);
      const service = toText(about['service.name']) ?? 'service';
      const scopes = [...toList(scopeSpans), ...toList(instrumentationLibrarySpans)];
      return scopes.flatMap((scope) =>
        toList(toObject(scope)?.spans).map((span) => toSpan(toObject(span) ?? {}, service, about)),
      );
    }),
  );
}

function toSpan(span: JsonObject, service: string, resource: JsonObject): Span {
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
    resource,
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
  if (intValue !== undefined) return Number(intValue);
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

/**
 * Rebuilds a value from attributes below `prefix` whose names are paths, as OpenInference flattens its lists:
 * `llm.input_messages.0.message.role` becomes `[{message: {role}}]`. Undefined if there are none.
 */
export function unflattenAttributes(attributes: JsonObject, prefix: string): JsonValue | undefined {
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
  return root.size === 0 ? undefined : growBranch(root);
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
export function unwrapValue(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (!Array.isArray(value)) return value;
  return value.map((item) => (isJsonObject(item) && item[key] !== undefined ? item[key] : item));
}
