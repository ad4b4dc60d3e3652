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
import { type Layer, type LayerCodec, ReplayGuard } from './layer.ts';

/** An adapter or a layer: a part that can be opened and may exchange offers beforehand. */
interface Part<Opened> {
  readonly name: string;
  open(session: AdapterSession): Opened;
  join?(member: PeerIdentity): { readonly offer: JsonValue; open(session: AdapterSession): Opened };
}

/**
 * Wraps `adapter` in layers, innermost first, and returns the result as an adapter. Its name is the
 * specification, `msgpack+zstd`; its offer holds those of its parts, by name.
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

/** Returns the function that opens these parts as one codec. */
function createOpen(adapter: Part<Codec>, layers: readonly Part<LayerCodec>[]): ProtocolAdapter['open'] {
  return (session) =>
    openLayers(
      adapter.open(narrowSession(adapter, session)),
      layers.map((layer) => openLayer(layer, session)),
    );
}

/** Returns the session with the offers of one part alone. */
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
 * Opens the codec of adapter and layers. Encoding goes from the codec outwards, decoding from the outermost
 * layer inwards. Both `decode` and `peek` compare the sender that a layer proves with the packet's `from`,
 * and refuse replays (see {@link ReplayGuard}).
 */
function openLayers(inner: Codec, layers: readonly OpenLayer[]): Codec {
  const overhead = layers.reduce(
    (sum, { codec }) => sum + codec.overheadBytes,
    inner.layerBytes?.overhead ?? 0,
  );
  const ownOverhead = overhead - (inner.layerBytes?.overhead ?? 0);
  const layerBytes: { -readonly [K in keyof LayerBytes]: LayerBytes[K] } = { overhead, last: 0 };
  const inwards = layers.toReversed();
  // A WeakMap keeps no blob in memory; a WeakRef would keep it until the end of the turn.
  const innerOf = new WeakMap<Uint8Array, Uint8Array>();

  /**
   * Returns the same object for a second look at a blob as for the first, because the adapter may recognize
   * replays by it, too.
   */
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
    // A guard remembers a frame only after every check, so that a refused frame leaves no trace.
    for (const { guard, stamp } of stamped) guard.remember(stamp, blob);
    return head;
  }

  const peekInner = inner.peek?.bind(inner);

  const codec: Codec = {
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
  };
  // Layers can peek only around a codec that can; otherwise readers of the head decode.
  if (peekInner === undefined) return codec;
  return { ...codec, peek: (blob) => look(blob, skim, peekInner) };
}

function unseal(layer: LayerCodec, bytes: Uint8Array) {
  return layer.unseal(bytes);
}

function skim(layer: LayerCodec, bytes: Uint8Array) {
  return layer.skim === undefined ? layer.unseal(bytes) : layer.skim(bytes);
}
