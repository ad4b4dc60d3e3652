import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { listenOnPlace } from '@gaia-mesh/stacks/listen.ts';
import definitions from 'otlp-definitions/build/src/generated/root.js';
import { onTestFinished } from 'vitest';

/** The part of the compiled definitions that is used here; their own types leave it out. */
interface Kind {
  decode(bytes: Uint8Array): object;
  toObject(message: object, how: object): object;
}
interface Definitions {
  readonly opentelemetry: {
    readonly proto: {
      readonly collector: {
        readonly trace: { readonly v1: { readonly ExportTraceServiceRequest: Kind } };
      };
    };
  };
}

const { trace } = (definitions as unknown as Definitions).opentelemetry.proto.collector;

export interface OtlpReceiver {
  readonly url: string;
  /** Received data as OTLP/JSON, in order. */
  readonly traces: readonly unknown[];
  /** All received bytes. */
  readonly bytes: readonly Buffer[];
}

/**
 * A collector that shares no code with the sender: it reads protobuf by OpenTelemetry's own definitions, as
 * `protobufjs` compiled them. It is closed at the end of the test.
 */
export async function startOtlpReceiver(status = 200, reply = Buffer.alloc(0)): Promise<OtlpReceiver> {
  const received = { traces: [] as unknown[], bytes: [] as Buffer[] };
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      received.bytes.push(body);
      if (request.url === '/v1/traces') received.traces.push(jsonOf(body));
      else response.statusCode = 404;
      if (response.statusCode === 200) response.statusCode = status;
      response.setHeader('content-type', 'application/x-protobuf');
      response.end(reply);
    });
  });
  const port = await listenOnPlace(server, { port: 0 });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${port}`, ...received };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const body = await buffer(request);
  return request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
}

/** Converts to OTLP/JSON, whose ids are hexadecimal, unlike protobuf's own JSON in Base64. */
function jsonOf(body: Buffer): unknown {
  const kind = trace.v1.ExportTraceServiceRequest;
  const object = kind.toObject(kind.decode(body), { longs: String, enums: Number, bytes: String });
  return JSON.parse(JSON.stringify(object), (key, value: unknown) =>
    /^(?:traceId|spanId|parentSpanId)$/.test(key) && typeof value === 'string'
      ? Buffer.from(value, 'base64').toString('hex')
      : value,
  );
}
