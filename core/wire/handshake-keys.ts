import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { AdapterSession } from '../contracts/adapter.ts';
import type { Hello, Offers } from './handshake-messages.ts';

export function deriveSession(
  hello: Hello,
  secret: string,
  agentNonce: string,
  self: string,
  peer: string,
  offers: Offers = {},
): AdapterSession {
  return {
    runId: hello.run,
    self,
    peer,
    linkKey: deriveKey(secret, Buffer.from(hello.nonce + agentNonce, 'hex'), hello.run),
    runKey: deriveRunKey(secret, hello.run),
    offers: new Map(Object.entries(offers)),
  };
}

/** Derives the key that all members of a run share; see {@link AdapterSession.runKey}. */
export function deriveRunKey(secret: string, runId: string): Uint8Array {
  return deriveKey(secret, Buffer.alloc(0), runId);
}

function deriveKey(secret: string, salt: Uint8Array, runId: string): Uint8Array {
  if (secret === '') return new Uint8Array(32);
  return new Uint8Array(hkdfSync('sha256', secret, salt, `gaia-mesh ${runId}`, 32));
}

export function computeProof(
  secret: string,
  role: 'hub' | 'agent',
  { wire, run, node, tool, adapter, nonce }: Hello,
  agentNonce: string,
  said: readonly unknown[],
): string {
  if (secret === '') return '';
  return computeHmac(secret, [role, wire, run, node, tool, adapter, nonce, agentNonce, said]);
}

export function computeTicket(secret: string, { wire, run, node, tool, adapter, nonce }: Hello): string {
  return computeHmac(secret, ['ticket', wire, run, node, tool, adapter, nonce]);
}

function computeHmac(secret: string, said: readonly unknown[]): string {
  return createHmac('sha256', secret).update(JSON.stringify(said)).digest('hex');
}

export function verifyProof(proof: string, expected: string): boolean {
  const [came, wanted] = [Buffer.from(proof), Buffer.from(expected)];
  return came.length === wanted.length && timingSafeEqual(came, wanted);
}
