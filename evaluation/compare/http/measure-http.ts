import type { ProtocolAdapter } from '../../../core/contracts/adapter.ts';
import type { Recording } from '../../../core/recording/recording.ts';
import { certificateBytes, selfSigned, trusting } from '../../../protocols/bindings/tls/self-signed.ts';
import { a2aHttp } from './a2a.ts';
import { anpHttp } from './anp.ts';
import type { Bytes, Traffic } from './counting-server.ts';
import type { HttpBinding, Unavailable } from './http-binding.ts';
import { playOverHttp } from './http-exchange.ts';
import { endsOf } from './json-rpc.ts';
import { mcpHttp } from './mcp.ts';

/** What the packets of a recording take over HTTP. Bytes are sums over the packets. */
export interface HttpCosts {
  readonly packets: number;
  readonly rows: readonly HttpRow[];
  /** Adapters whose protocol rides on HTTP as well, and were not measured. */
  readonly unavailable: readonly Unavailable[];
  /** null where no certificate could be made. */
  readonly tls: TlsCosts | null;
}

export interface HttpRow {
  readonly adapter: string;
  readonly client: string;
  readonly head: Bytes;
  readonly body: Bytes;
  /** What the records of TLS add to that; null without TLS. */
  readonly records: number | null;
}

/** Of one connection: all that is no HTTP, with the tickets for the next one. */
interface TlsCosts {
  readonly handshake: Bytes;
  readonly certificate: number;
}

type Opener = (adapter: ProtocolAdapter, recording: Recording) => Promise<HttpBinding | Unavailable>;

const openers: ReadonlyMap<string, Opener> = new Map<string, Opener>([
  ['a2a', a2aHttp],
  ['a2a-proto', async ({ name }) => ({ adapter: name, why: GRPC })],
  ['mcp', async (adapter, recording) => mcpHttp(endsOf(adapter, recording))],
  ['anp', async (adapter, recording) => anpHttp(endsOf(adapter, recording))],
]);

const GRPC =
  'its transport is gRPC, on HTTP/2: a head there takes as many bytes as the heads before it on the connection leave to say, and a ' +
  'client would be one more package';

/** Sends every packet as an HTTP request of its own, on a connection that stays open: without TLS, then with it. */
export async function measureHttp(
  recording: Recording,
  adapters: readonly ProtocolAdapter[],
  signal: AbortSignal,
): Promise<HttpCosts> {
  const packets = recording.packets.map(({ packet }) => packet);
  const opened = await Promise.all(
    adapters.flatMap((adapter) => openers.get(adapter.name)?.(adapter, recording) ?? []),
  );
  const bindings = opened.flatMap((binding) => ('why' in binding ? [] : [binding]));
  const unavailable = opened.flatMap((binding) => ('why' in binding ? [binding] : []));
  if (bindings.length === 0) return { packets: packets.length, rows: [], unavailable, tls: null };
  const plain = await playOverHttp(bindings, packets, signal);
  const certificate = await selfSigned();
  const secure =
    certificate === null
      ? null
      : await trusting(certificate, () => playOverHttp(bindings, packets, signal, certificate));
  return {
    packets: packets.length,
    rows: bindings.map((binding, index) => rowOf(binding, plain.sums[index], secure?.sums[index])),
    unavailable,
    tls:
      certificate === null || secure === null
        ? null
        : { handshake: secure.opening, certificate: certificateBytes(certificate) },
  };
}

function rowOf(
  { adapter, client }: HttpBinding,
  plain: Traffic | undefined,
  secure: Traffic | undefined,
): HttpRow {
  if (plain === undefined) throw new Error(`${adapter} was not measured`);
  const { http, bodies } = plain;
  return {
    adapter,
    client,
    head: { up: http.up - bodies.up, down: http.down - bodies.down },
    body: bodies,
    records:
      secure === undefined ? null : secure.wire.up + secure.wire.down - secure.http.up - secure.http.down,
  };
}
