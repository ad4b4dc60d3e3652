import type { IncomingMessage } from 'node:http';
import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_MESSAGE_DEPTH } from '@gaia-mesh/core/contracts/limits.ts';
import { parseForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import type { A2aAgent } from '../agent/agent.ts';
import { createFaultError } from '../agent/faults.ts';
import type { AgentInterface } from '../interfaces.ts';
import { legacy } from './legacy.ts';

/** This module holds the common part of the two HTTP transports of a bare A2A server. */

/** Formats the agent card for clients: addresses first, as the order of transports is their preference (§8.3). */
export function formatCard({ card }: A2aAgent, supportedInterfaces: readonly AgentInterface[]): string {
  return JSON.stringify({ supportedInterfaces, ...card });
}

/**
 * Checks the version that a client states. A missing version means 0.3; the patch does not matter (§3.6).
 *
 * @throws MeshError with the fault `versionNotSupported`
 */
export function checkVersion(version: unknown): void {
  if (typeof version === 'string' && /^1\.0(\.\d+)?$/.test(version)) return;
  const came = typeof version === 'string' && version !== '' ? version.slice(0, 16) : '0.3';
  const how = legacy.isVersion(version)
    ? ', which is spoken over JSON-RPC by its own methods (message/send)'
    : '';
  throw createFaultError('versionNotSupported', `A2A-Version: expected 1.0, received ${came}${how}`);
}

/** @throws MeshError with the fault `contentTypeNotSupported` */
export function checkContentType({ headers }: IncomingMessage): void {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json' && type !== 'application/a2a+json')
    throw createFaultError(
      'contentTypeNotSupported',
      `Content-Type: expected application/json, received ${type}`,
    );
}

/**
 * Parses a body, in which every number is exact: what a client named is found again in the answer.
 *
 * @throws MeshError with the fault `parseError`; `limit` for one that would take too much memory
 */
export function parseBody(body: Buffer, { kept }: A2aAgent): unknown {
  try {
    const options = { maxDepth: MAX_MESSAGE_DEPTH, maxBytes: kept?.mostEach, isExact: true };
    return parseForeignJson(body.toString(), options);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw createFaultError('parseError', `the body is not JSON: ${toErrorMessage(error)}`);
  }
}
