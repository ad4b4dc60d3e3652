import { once } from 'node:events';
import { connect } from 'node:net';
import { joinUrl } from '@gaia-mesh/core/system/outgoing-url.ts';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { DiagLogLevel, diag, type HrTime, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { Attributes, RunTelemetry, Span } from './run-telemetry.ts';

/** The only file that imports OpenTelemetry's packages; it is loaded when something is exported. */

/** Maximum spans in a request, or in a line of a file. Collectors accept some megabytes at once. */
const MAX_REQUEST_SPANS = 512;
const MAX_REQUEST_CHARACTERS = 2_000_000;
/** Timeout of one request, including the exporter's retries. */
const REQUEST_MS = 30_000;

/** Time to connect to a collector. */
const CONNECT_MS = 5_000;

const SCOPE = { name: 'gaia-mesh', version: packageVersion };

/** Returns the lines of a file of spans in the format of OTLP's file exporter. */
export function formatSpans(telemetry: RunTelemetry): string[] {
  return [...splitRequests(telemetry)].map((spans) =>
    new TextDecoder().decode(JsonTraceSerializer.serializeRequest(spans)),
  );
}

/**
 * Sends spans to a collector, as protobuf over HTTP. `OTEL_EXPORTER_OTLP_HEADERS` and similar variables apply.
 *
 * @returns a doubt about the reply, if there is one: any server may answer with 200
 * @throws Error with the collector's message
 */
export async function send(telemetry: RunTelemetry, endpoint: string): Promise<string | undefined> {
  await checkListening(new URL(endpoint));
  const url = joinUrl(endpoint, '/v1/traces').href;
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: REQUEST_MS });
  // The exporter counts these replies as a success, and says what they were in its log alone.
  const warnings: string[] = [];
  const ignore = () => undefined;
  const warn = (...words: unknown[]) => void warnings.push(words.join(' '));
  diag.setLogger(
    { error: ignore, warn, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  try {
    for (const request of splitRequests(telemetry))
      await awaitExport((done) => exporter.export(request, done));
  } finally {
    diag.disable();
    await exporter.shutdown();
  }
  const refused = warnings.find((text) => /partial success/i.test(text));
  if (refused !== undefined) throw new Error(refused);
  return warnings.some((text) => /failed to parse|deserialize/i.test(text))
    ? 'its reply is not that of a collector: check the URL'
    : undefined;
}

/** Connects once, because the exporter would try a closed port again for a quarter of a minute. A proxy connects by itself. */
async function checkListening({ hostname, port, protocol }: URL): Promise<void> {
  if (process.env.NODE_USE_ENV_PROXY === '1') return;
  const host = hostname.replaceAll(/[[\]]/g, '');
  const socket = connect({ host, port: Number(port || (protocol === 'https:' ? 443 : 80)) });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_MS) });
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError')
      throw new Error(`no connection within ${CONNECT_MS / 1000} s`, { cause: error });
    throw error;
  } finally {
    socket.destroy();
  }
}

function awaitExport(
  start: (done: (result: { code: number; error?: Error }) => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    start(({ code, error }) => (code === 0 ? resolve() : reject(error ?? new Error('not taken'))));
  });
}

function* splitRequests({ resource, spans }: RunTelemetry): Generator<ReadableSpan[]> {
  const own = resourceFromAttributes(omitAbsent(resource));
  let request: ReadableSpan[] = [];
  let characters = 0;
  for (const span of spans) {
    const size = countCharacters(span.attributes);
    if (
      request.length === MAX_REQUEST_SPANS ||
      (request.length > 0 && characters + size > MAX_REQUEST_CHARACTERS)
    ) {
      yield request;
      request = [];
      characters = 0;
    }
    request.push(toReadableSpan(span, own));
    characters += size;
  }
  if (request.length > 0) yield request;
}

function countCharacters(attributes: Attributes): number {
  return Object.values(attributes).reduce<number>((sum, value) => sum + String(value ?? '').length, 0);
}

function toReadableSpan(span: Span, resource: Resource): ReadableSpan {
  const { traceId, spanId, parentSpanId, name, kind, startUs, links = [], events = [], error } = span;
  const context = (own: string, id: string) => ({ traceId: own, spanId: id, traceFlags: 1 });
  const endUs = Math.max(startUs, span.endUs);
  return {
    name,
    kind: kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL,
    spanContext: () => context(traceId, spanId),
    ...(parentSpanId === undefined ? {} : { parentSpanContext: context(traceId, parentSpanId) }),
    startTime: toHrTime(startUs),
    endTime: toHrTime(endUs),
    duration: toHrTime(endUs - startUs),
    ended: true,
    status:
      error === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: error },
    attributes: omitAbsent({ ...span.attributes, 'error.type': error === undefined ? undefined : '_OTHER' }),
    links: links.map((link) => ({
      context: context(link.traceId, link.spanId),
      attributes: omitAbsent(link.attributes),
    })),
    events: events.map((event) => ({
      name: event.name,
      time: toHrTime(event.atUs),
      attributes: omitAbsent(event.attributes),
    })),
    resource,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** Converts microseconds to seconds and nanoseconds. */
function toHrTime(us: number): HrTime {
  const seconds = Math.floor(us / 1e6);
  return [seconds, Math.round((us - seconds * 1e6) * 1000)];
}

/** Returns the attributes that have a value, because exporters accept no undefined ones. */
function omitAbsent(all: Attributes): Record<string, string | number | boolean | string[]> {
  const known: Record<string, string | number | boolean | string[]> = {};
  for (const [key, value] of Object.entries(all))
    if (value !== undefined && value !== null) known[key] = value;
  return known;
}
