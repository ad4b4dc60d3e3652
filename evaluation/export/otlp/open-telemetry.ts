import { once } from 'node:events';
import { connect } from 'node:net';
import { joinUrl } from '@gaia-mesh/core/system/outgoing-url.ts';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { type HrTime, SpanKind, SpanStatusCode, ValueType } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { JsonMetricsSerializer, JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { Metric } from './metrics.ts';
import type { RunTelemetry } from './run-telemetry.ts';
import { type Attributes, omitAbsent, type Span } from './span.ts';

/** The only file that imports OpenTelemetry's packages; it is loaded when something is exported. */

/** Maximum spans in a request, or in a line of a file. Collectors accept some megabytes at once. */
const MAX_REQUEST_SPANS = 512;
const MAX_REQUEST_CHARACTERS = 2_000_000;
/** Timeout of one request, including the exporter's retries. */
const REQUEST_MS = 30_000;

/** Time to connect to a collector. */
const CONNECT_MS = 5_000;

const SCOPE = { name: 'gaia-mesh', version: packageVersion };

/** Returns the lines of a file of spans and of one of metrics in the format of OTLP's file exporter. */
export function formatTelemetry(telemetry: RunTelemetry): { spans: string[]; metrics: string[] } {
  const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);
  const metrics = toResourceMetrics(telemetry);
  return {
    spans: [...splitRequests(telemetry)].map((spans) => text(JsonTraceSerializer.serializeRequest(spans))),
    metrics: [text(JsonMetricsSerializer.serializeRequest(metrics))],
  };
}

/**
 * Sends spans and metrics to a collector, as protobuf over HTTP. `OTEL_EXPORTER_OTLP_HEADERS` and similar variables apply.
 *
 * @throws Error with the collector's message
 */
export async function send(telemetry: RunTelemetry, endpoint: string): Promise<void> {
  await checkListening(new URL(endpoint));
  const settings = (path: string) => ({ url: joinUrl(endpoint, path).href, timeoutMillis: REQUEST_MS });
  const spans = new OTLPTraceExporter(settings('/v1/traces'));
  const metrics = new OTLPMetricExporter(settings('/v1/metrics'));
  try {
    for (const request of splitRequests(telemetry)) await awaitExport((done) => spans.export(request, done));
    await awaitExport((done) => metrics.export(toResourceMetrics(telemetry), done));
  } finally {
    await Promise.all([spans.shutdown(), metrics.shutdown()]);
  }
}

/** Connects once, because the exporters would try a closed port again for a quarter of a minute. A proxy connects by itself. */
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
  const own = resourceFromAttributes(copyAttributes(resource));
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
  return Object.values(attributes).reduce<number>((sum, value) => sum + String(value).length, 0);
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
    attributes: copyAttributes(
      omitAbsent({ ...span.attributes, 'error.type': error === undefined ? undefined : '_OTHER' }),
    ),
    links: links.map((link) => ({
      context: context(link.traceId, link.spanId),
      attributes: copyAttributes(link.attributes),
    })),
    events: events.map((event) => ({
      name: event.name,
      time: toHrTime(event.atUs),
      attributes: copyAttributes(event.attributes),
    })),
    resource,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function toResourceMetrics({ resource, metrics, startUs, endUs }: RunTelemetry): ResourceMetrics {
  const times = { startTime: toHrTime(startUs), endTime: toHrTime(endUs) };
  return {
    resource: resourceFromAttributes(copyAttributes(resource)),
    scopeMetrics: [{ scope: SCOPE, metrics: metrics.map((metric) => toMetricData(metric, times)) }],
  };
}

function toMetricData(
  { name, about, unit, bounds, points }: Metric,
  times: Pick<DataPoint<number>, 'startTime' | 'endTime'>,
): MetricData {
  const common = {
    descriptor: { name, description: about, unit, valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  if (bounds === null) {
    return {
      ...common,
      dataPointType: DataPointType.SUM,
      // A payload coding may save bytes, so the sum can fall.
      isMonotonic: false,
      dataPoints: points.map(({ attributes, values }) => ({
        ...times,
        attributes: copyAttributes(attributes),
        value: sumValues(values),
      })),
    };
  }
  return {
    ...common,
    dataPointType: DataPointType.HISTOGRAM,
    dataPoints: points.map(({ attributes, values }) => ({
      ...times,
      attributes: copyAttributes(attributes),
      value: buildHistogram(values, bounds),
    })),
  };
}

/** Builds a histogram. A bucket counts the values above the bound before it and up to its own. */
function buildHistogram(values: readonly number[], bounds: readonly number[]): Histogram {
  const counts = Array.from({ length: bounds.length + 1 }, () => 0);
  for (const value of values) {
    const at = bounds.findIndex((bound) => value <= bound);
    const bucket = at === -1 ? bounds.length : at;
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return {
    buckets: { boundaries: [...bounds], counts },
    sum: sumValues(values),
    count: values.length,
    min: values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY),
    max: values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY),
  };
}

function sumValues(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** Converts microseconds to seconds and nanoseconds. */
function toHrTime(us: number): HrTime {
  const seconds = Math.floor(us / 1e6);
  return [seconds, Math.round((us - seconds * 1e6) * 1000)];
}

function copyAttributes(attributes: Attributes): Record<string, string | number | boolean | string[]> {
  return { ...attributes };
}
