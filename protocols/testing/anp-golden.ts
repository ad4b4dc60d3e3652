import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { type Packet, parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import { createAnpAdapter } from '../anp.ts';
import direct from './anp-direct-send.json' with { type: 'json' };
import identities from './anp-identities.json' with { type: 'json' };
import packets from './golden-packets.json' with { type: 'json' };

/**
 * Members, requests and ledger rows of ANP, generated without this code and accepted by the verifiers of
 * ANP's own SDKs. All keys are test keys. The largest request is stored as a hash only.
 */

const identitySchema = z.strictObject({
  name: z.string(),
  did: z.string(),
  Ed25519: z.string(),
  X25519: z.string(),
  did_document: z.json(),
});

export const goldenIdentities = z.array(identitySchema).parse(identities);

const rowSchema = z.strictObject({
  name: z.string(),
  request: z.union([z.string(), z.strictObject({ sha256: z.string() })]),
  signature_base: z.string(),
  ledger: z.record(z.enum(['anp', 'anp-e2ee']), z.record(z.string(), z.number())),
});

export const goldenRows = z
  .array(rowSchema)
  .parse(direct.rows)
  .map((row) => ({
    ...row,
    packet: parsePacket(packets.find(({ name }) => name === row.name)?.packet),
  }));

/** Requests that must be refused. */
export const tamperedRequests = direct.tampered;

export function goldenIdentity(name: string): z.infer<typeof identitySchema> {
  const identity = goldenIdentities.find((candidate) => candidate.name === name);
  if (identity === undefined) throw new Error(`no golden identity of ${name}`);
  return identity;
}

/** Keys and time as in the golden data, which addresses broadcasts to the hub. */
export const goldenSources: Omit<Parameters<typeof createAnpAdapter>[0], 'nonces'> = {
  secretOf: ({ self }, keyName) => {
    const identity = goldenIdentity(self);
    return Buffer.from(keyName === 'Ed25519' ? identity.Ed25519 : identity.X25519, 'hex');
  },
  createdAt: () => new Date('2026-09-01T00:00:00Z'),
  everybody: () => goldenIdentity('hub').did,
};

/**
 * Returns `anp` as in the golden data, with the same nonce each time; a packet to the hub itself is
 * distinguished from a broadcast.
 */
export function goldenAnp(packet: Packet, nonce = ''): ProtocolAdapter {
  const everybody =
    packet.to === undefined ? goldenSources.everybody : () => 'did:wba:mesh.local:agents:all:e1_';
  return createAnpAdapter({ ...goldenSources, everybody, nonces: () => () => nonce });
}

export const goldenNodes = goldenIdentities.map(({ name }) => name);
