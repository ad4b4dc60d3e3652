import type {
  AdapterSession,
  Codec,
  LayerBytes,
  Membership,
  PeerIdentity,
  ProtocolAdapter,
} from '@gaia-mesh/core/contracts/adapter.ts';
import {
  isJsonObject,
  type JsonValue,
  type Packet,
  type PacketHead,
} from '@gaia-mesh/core/contracts/packet.ts';
import type { Layer, LayerCodec } from './layer.ts';
import { ReplayGuard } from './replay-guard.ts';

/** An adapter or a layer: what can be opened, and may want to exchange something before. */
interface Part<Opened> {
  readonly name: string;
  open(session: AdapterSession): Opened;
  join?(member: PeerIdentity): { readonly offer: JsonValue; open(session: AdapterSession): Opened };
}

/**
 * `adapter` with layers around it, innermost first, as an adapter. Its name is the specification, `msgpack+zstd`; its offer holds
 * those of its parts, by name.
 */
export function applyLayers(adapter: ProtocolAdapter, layers: readonly Layer[]): ProtocolAdapter {
  if (layers.length === 0) return adapter;
  const parts = [adapter, ...layers];
  const name = parts.map((part) => part.name).join('+');
  const open = createOpen(adapter, layers);
  if (parts.every((part) => part.join === undefined)) return { name, open };
  return { name, open, join: (member) => joinLayers(adapter, layers, member) };
}

function joinLayers(adapter: ProtocolAdapter, layers: readonly Layer[], member: PeerIdentity): Membership {
  const offers: Record<string, JsonValue> = {};
  const joined = <Opened>(part: Part<Opened>): Part<Opened> => {
    const membership = part.join?.(member);
    if (membership === undefined) return part;
    offers[part.name] = membership.offer;
    return { name: part.name, open: membership.open };
  };
  const open = createOpen(
    joined(adapter),
    layers.map((layer) => joined(layer)),
  );
  return { offer: offers, open };
}

/** How a stack of these parts is opened. */
function createOpen(adapter: Part<Codec>, layers: readonly Part<LayerCodec>[]): ProtocolAdapter['open'] {
  return (session) =>
    openLayers(
      adapter.open(narrowSession(adapter, session)),
      layers.map((layer) => openLayer(layer, session)),
    );
}

/** The session as one part sees it: with its own offers alone. */
function narrowSession({ name }: Pick<Part<unknown>, 'name'>, session: AdapterSession): AdapterSession {
  const offers = new Map<string, JsonValue>();
  for (const [node, offer] of session.offers) {
    const own = pickOffer(offer, name);
    if (own !== undefined) offers.set(node, own);
  }
  return { ...session, offers };
}

function pickOffer(offer: JsonValue, name: string): JsonValue | undefined {
  return isJsonObject(offer) && Object.hasOwn(offer, name) ? offer[name] : undefined;
}

interface OpenLayer {
  readonly name: string;
  readonly codec: LayerCodec;
  readonly guard: ReplayGuard;
}

function openLayer(layer: Part<LayerCodec>, session: AdapterSession): OpenLayer {
  return {
    name: layer.name,
    codec: layer.open(narrowSession(layer, session)),
    guard: new ReplayGuard(layer.name),
  };
}

/**
 * Encoding goes from the codec outwards, decoding from the outermost layer inwards. Both looks at a blob hold what the
 * layers know of its sender against the packet's `from`, and refuse what came before (see {@link ReplayGuard}).
 */
function openLayers(inner: Codec, layers: readonly OpenLayer[]): Codec {
  const overhead = layers.reduce(
    (sum, { codec }) => sum + codec.overheadBytes,
    inner.layerBytes?.overhead ?? 0,
  );
  const ownOverhead = overhead - (inner.layerBytes?.overhead ?? 0);
  const layerBytes: { -readonly [K in keyof LayerBytes]: LayerBytes[K] } = { overhead, last: 0 };
  const inwards = layers.toReversed();
  // Weak, so that no blob stays in memory for it; a WeakRef would keep it until the end of the turn.
  const innerOf = new WeakMap<Uint8Array, Uint8Array>();

  /** For a second look at a blob the adapter gets the same object as for the first: it may refuse replays by that, too. */
  function sameAsBefore(blob: Uint8Array, bytes: Uint8Array): Uint8Array {
    const before = innerOf.get(blob);
    if (before !== undefined && Buffer.compare(before, bytes) === 0) return before;
    innerOf.set(blob, bytes);
    return bytes;
  }

  function look<Head extends PacketHead>(
    blob: Uint8Array,
    unwrap: (layer: LayerCodec, bytes: Uint8Array) => ReturnType<LayerCodec['unseal']>,
    read: (bytes: Uint8Array) => Head,
  ): Head {
    let bytes = blob;
    const stamped = [];
    for (const { codec, guard } of inwards) {
      const opened = unwrap(codec, bytes);
      bytes = opened.bytes;
      if (opened.stamp === undefined) continue;
      guard.checkNew(opened.stamp, blob);
      stamped.push({ guard, stamp: opened.stamp });
    }
    const head = read(sameAsBefore(blob, bytes));
    layerBytes.last = blob.length - bytes.length + (inner.layerBytes?.last ?? 0);
    for (const { guard, stamp } of stamped) guard.checkSender(stamp, head.from);
    // Only when nothing is left to refuse: what is dropped leaves no trace.
    for (const { guard, stamp } of stamped) guard.remember(stamp, blob);
    return head;
  }

  const peekInner = inner.peek?.bind(inner);

  return {
    layerBytes,
    encode(packet: Packet): Uint8Array {
      const plain = inner.encode(packet);
      let bytes = plain;
      for (const { codec } of layers) bytes = codec.seal(bytes);
      layerBytes.last = bytes.length - plain.length + (inner.layerBytes?.last ?? 0);
      return bytes;
    },
    decode: (blob) => look(blob, unseal, (bytes) => inner.decode(bytes)),
    headerSize: (packet) => inner.headerSize(packet) + ownOverhead,
    // Where the codec itself cannot peek, a stack around it cannot: whoever wants the head decodes.
    ...(peekInner === undefined ? {} : { peek: (blob) => look(blob, skim, peekInner) }),
  };
}

function unseal(layer: LayerCodec, bytes: Uint8Array) {
  return layer.unseal(bytes);
}

function skim(layer: LayerCodec, bytes: Uint8Array) {
  return layer.skim === undefined ? layer.unseal(bytes) : layer.skim(bytes);
}
