import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { createFaultError, type RpcRequest } from '../../json-rpc.ts';
import { MCP_REVISION } from '../revision.ts';

/** Revisions before 2026-07-28: a client sends `initialize` first, and requests do not repeat the agreement. */
const LEGACY_REVISIONS = ['2025-11-25', '2025-06-18'] as const;

const initializeSchema = z.looseObject({ protocolVersion: z.string() });
const cancelledSchema = z.looseObject({ requestId: z.union([z.string(), z.number()]) });

/**
 * Returns true for a request of an earlier revision, which does not name its own, unless a header's {@link
 * revision} says otherwise.
 */
export function isLegacy(request: RpcRequest, revision: string | undefined): boolean {
  if (revision !== undefined && !LEGACY_REVISIONS.some((known) => known === revision)) return false;
  return request.method === 'initialize' || !namesRevision(request);
}

/**
 * Checks the revision that a header states. A client that names one in its message is answered in the words
 * of the latest revision; all others in those of the earlier ones, by which an unknown one is a bad request.
 *
 * @throws MeshError with the fault `unknownRevision`
 */
export function checkRevision(request: RpcRequest, revision: string): void {
  if (revision === MCP_REVISION || isLegacy(request, revision) || namesRevision(request)) return;
  const supported = LEGACY_REVISIONS.join(', ');
  throw createFaultError(
    'unknownRevision',
    `Bad Request: Unsupported protocol version: ${revision.slice(0, 32)} (supported versions: ${supported})`,
  );
}

function namesRevision({ params }: RpcRequest): boolean {
  return 'io.modelcontextprotocol/protocolVersion' in Object(params?._meta);
}

/**
 * Chooses the revision: the client's if the server speaks it, else the server's latest (2025-11-25,
 * lifecycle, "Version Negotiation").
 */
export function chooseRevision(params: unknown): string {
  const { data } = initializeSchema.safeParse(params);
  return LEGACY_REVISIONS.find((known) => known === data?.protocolVersion) ?? LEGACY_REVISIONS[0];
}

/** Requests of one client that are being worked on, by their ids, so that it can cancel them. */
export class OpenCalls {
  readonly #calls = new Map<string | number, AbortController>();

  /** @returns the controller that aborts when the call is cancelled */
  begin(id: string | number): AbortController {
    const abort = new AbortController();
    this.#calls.set(id, abort);
    return abort;
  }

  /** Ends a call, unless a later call has taken its id. */
  end(id: string | number, abort: AbortController): void {
    if (this.#calls.get(id) === abort) this.#calls.delete(id);
  }

  /** Takes a notification, which may cancel a call. */
  notify({ method, params }: RpcRequest): void {
    if (method !== 'notifications/cancelled') return;
    const { success, data } = cancelledSchema.safeParse(params);
    if (success) this.#calls.get(data.requestId)?.abort();
  }

  get hasOpen(): boolean {
    return this.#calls.size > 0;
  }

  cancelAll(): void {
    for (const call of this.#calls.values()) call.abort();
  }
}

/**
 * Maximum number of clients of earlier revisions. For one more, the server drops the one that has been silent
 * longest and waits for no answer; it begins a new session when it comes back.
 */
const MAX_SESSIONS = 256;

/** Sessions over HTTP, where a cancellation is a separate request and must find the call that it cancels. */
export class LegacySessions {
  readonly #sessions = new Map<string, OpenCalls>();

  open(): string {
    const id = randomUUID();
    const [silent] = [...this.#sessions].find(([, calls]) => !calls.hasOpen) ?? [];
    if (this.#sessions.size >= MAX_SESSIONS) {
      if (silent === undefined)
        throw createFaultError('busy', `all ${MAX_SESSIONS} sessions wait for answers: try again later`);
      this.close(silent);
    }
    this.#sessions.set(id, new OpenCalls());
    return id;
  }

  find(id: string): OpenCalls | undefined {
    const calls = this.#sessions.get(id);
    if (calls === undefined) return undefined;
    this.#sessions.delete(id);
    this.#sessions.set(id, calls);
    return calls;
  }

  close(id: string): void {
    this.#sessions.get(id)?.cancelAll();
    this.#sessions.delete(id);
  }
}
