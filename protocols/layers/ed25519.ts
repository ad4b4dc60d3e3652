import { generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import type { AdapterSession, PeerIdentity } from '@gaia-mesh/core/contracts/adapter.ts';
import { toBuffer } from '../scan/scanner.ts';
import { deriveKey, exportPublicKey, importPrivateKey, importPublicKey, KEY_BYTES } from './keys.ts';
import { createLayerError, type Layer, type LayerCodec, refuseOpen } from './layer.ts';
import { Senders, SequenceNumbers, STAMP_BYTES } from './stamp.ts';

const NAME = 'ed25519';
const SIGNATURE_BYTES = 64;
const HEADER_BYTES = STAMP_BYTES + SIGNATURE_BYTES;

/**
 * Signatures (RFC 8032):
 *
 *     key id (4), sequence (8)  |  signature (64)  |  bytes
 *
 * Each member makes a key pair for the run and offers the public key; the private one stays in its process. A
 * signature covers `gaia-mesh ed25519`, run and node, the 12 bytes in front, and the bytes, so it holds for
 * one frame of one sender.
 *
 * Verifying takes far longer than everything else that is done for a packet, so a `skim` leaves it out: the
 * hub forwards unverified packets, and receivers verify and refuse them when they decode. The hub decodes the
 * packets on which it acts itself.
 */
export const ed25519: Layer = {
  name: NAME,
  open: refuseOpen(NAME),
  join,
};

interface Signer {
  readonly node: string;
  readonly publicKey: Buffer;
  readonly context: Buffer;
  /** Imported on first use: the hub has a session for every link, and each link receives from one sender. */
  key: KeyObject | undefined;
}

interface Self {
  readonly id: number;
  readonly context: Buffer;
  readonly privateKey: KeyObject;
  /** Counter of all the member's connections, since they share its key. */
  readonly numbers: SequenceNumbers;
}

function join({ runId, self, seed }: PeerIdentity) {
  const privateKey =
    seed === undefined
      ? generateKeyPairSync('ed25519').privateKey
      : importPrivateKey('Ed25519', deriveKey(seed, `${NAME} key ${self}`));
  const publicKey = exportPublicKey(privateKey);
  const own: Self = {
    id: publicKey.readUInt32BE(0),
    context: encodeContext(runId, self),
    privateKey,
    numbers: new SequenceNumbers(),
  };
  return { offer: publicKey.toString('hex'), open: (session: AdapterSession) => openCodec(own, session) };
}

function openCodec({ id, context, privateKey, numbers }: Self, session: AdapterSession): LayerCodec {
  const signers = new Senders<Signer>(
    NAME,
    session.offers,
    { what: 'public key', bytes: KEY_BYTES },
    (node, publicKey) => ({ node, publicKey, context: encodeContext(session.runId, node), key: undefined }),
  );

  return {
    overheadBytes: HEADER_BYTES,
    seal(bytes) {
      const sealed = Buffer.allocUnsafe(HEADER_BYTES + bytes.length);
      numbers.stamp(sealed, id);
      sealed.set(bytes, HEADER_BYTES);
      sealed.set(sign(null, buildSignedBytes(context, sealed), privateKey), STAMP_BYTES);
      return sealed;
    },
    unseal(bytes) {
      const { signer, sequence, sealed, inner } = read(signers, bytes);
      signer.key ??= importPublicKey('Ed25519', signer.publicKey);
      const signature = sealed.subarray(STAMP_BYTES, HEADER_BYTES);
      if (!verify(null, buildSignedBytes(signer.context, sealed), signer.key, signature)) {
        throw createLayerError(NAME, `${signer.node} has not signed this`);
      }
      return { bytes: inner, stamp: { sender: signer.node, sequence, isVerified: true } };
    },
    skim(bytes) {
      const { signer, sequence, inner } = read(signers, bytes);
      return { bytes: inner, stamp: { sender: signer.node, sequence, isVerified: false } };
    },
  };
}

function read(signers: Senders<Signer>, bytes: Uint8Array) {
  if (bytes.length < HEADER_BYTES)
    throw createLayerError(NAME, `${bytes.length} bytes are too few for key id and signature`);
  const sealed = toBuffer(bytes);
  const { member: signer, sequence } = signers.read(sealed);
  return { signer, sequence, sealed, inner: sealed.subarray(HEADER_BYTES) };
}

function buildSignedBytes(context: Buffer, sealed: Buffer): Buffer {
  return Buffer.concat([context, sealed.subarray(0, STAMP_BYTES), sealed.subarray(HEADER_BYTES)]);
}

/** Encodes run and node as a JSON array and a byte that JSON cannot contain, so that no two pairs have the same bytes. */
function encodeContext(runId: string, node: string): Buffer {
  return Buffer.from(`gaia-mesh ${NAME} ${JSON.stringify([runId, node])}\0`);
}
