import type { ChildProcess } from 'node:child_process';
import * as z from 'zod';

/**
 * Messages of an agent to its launcher about permits, beside their other messages: an agent requests a permit
 * before each request to a model server and releases it afterwards. `pauseMs` is the time for which the
 * server accepts no requests.
 */
const agentMessageSchema = z.union([
  z.strictObject({
    acquire: z.strictObject({ id: z.int().nonnegative(), endpoint: z.string().min(1).max(2048) }),
  }),
  z.strictObject({ release: z.int().nonnegative(), pauseMs: z.number().nonnegative().optional() }),
]);

/** Returns true if an agent's message is for the limiter. */
export const isPermitMessage = (message: unknown): boolean => agentMessageSchema.safeParse(message).success;

/** Messages of the launcher: an id of {@link agentMessageSchema}'s `acquire`, granted or refused. */
export const limiterMessageSchema = z.union([
  z.strictObject({ granted: z.int().nonnegative() }),
  z.strictObject({ refused: z.int().nonnegative(), why: z.string() }),
]);
type LimiterMessage = z.infer<typeof limiterMessageSchema>;

/**
 * Requests that a model server handles at once: a local one queues them, a cloud one counts by the minute.
 */
const DEFAULT_CONCURRENCY = 4;
/** Maximum permits that one agent holds or waits for; an agent works on at most 256 packets. */
const MAX_PERMITS_PER_AGENT = 1024;
/** Maximum endpoints at once: a team has a handful. */
const MAX_ENDPOINTS = 256;
/** Maximum time for which one agent can stop all others; servers' limits are per minute. */
const MAX_PAUSE_MS = 60_000;

interface Claim {
  readonly endpoint: string;
  readonly grant: () => void;
  isGranted: boolean;
}

/** Holder of permits or of places in the queue: an agent's process, or a part of this one. */
type Holder = object;

interface Endpoint {
  granted: number;
  pausedUntilMs: number;
  timer: NodeJS.Timeout | undefined;
  /** Waiting ids by holder, in order of arrival; the holder whose turn is next comes first. */
  readonly waiting: Map<Holder, number[]>;
}

/**
 * Grants permits for requests to model servers that several agents share: at most `concurrency` at a time for
 * each endpoint, with the holders in turn, so that one with many requests does not keep the others waiting.
 */
export class RateLimiter {
  readonly #concurrency: number;
  readonly #claims = new Map<Holder, Map<number, Claim>>();
  readonly #endpoints = new Map<string, Endpoint>();

  constructor(options: { readonly concurrency?: number } = {}) {
    this.#concurrency = options.concurrency ?? DEFAULT_CONCURRENCY;
  }

  /** Serves an agent's process over its channel while it has one, and releases its permits at the end. */
  serve(agent: ChildProcess): void {
    const say = (message: LimiterMessage) => {
      // An agent that is gone has left the limiter, or is about to.
      if (agent.connected) agent.send(message, () => undefined);
    };
    agent.on('message', (message) => {
      const parsed = agentMessageSchema.safeParse(message);
      if (!parsed.success) return;
      if ('release' in parsed.data) return this.release(agent, parsed.data.release, parsed.data.pauseMs);
      const { id, endpoint } = parsed.data.acquire;
      const why = this.acquire(agent, id, endpoint, () => say({ granted: id }));
      if (why !== undefined) say({ refused: id, why });
    });
    agent.once('disconnect', () => this.leave(agent));
    agent.once('exit', () => this.leave(agent));
  }

  /**
   * Calls `grant` when it is this claim's turn, which may be at once.
   *
   * @returns the reason if it can never be granted
   */
  acquire(holder: Holder, id: number, endpoint: string, grant: () => void): string | undefined {
    const claims = this.#claims.get(holder) ?? new Map<number, Claim>();
    if (claims.has(id)) return `a permit ${id} is already held or waited for`;
    if (claims.size >= MAX_PERMITS_PER_AGENT) return `more than ${MAX_PERMITS_PER_AGENT} permits at once`;
    const place = this.#endpoints.get(endpoint) ?? createEndpoint();
    if (this.#endpoints.size >= MAX_ENDPOINTS && !this.#endpoints.has(endpoint)) {
      return `more than ${MAX_ENDPOINTS} endpoints at once`;
    }
    this.#claims.set(holder, claims);
    this.#endpoints.set(endpoint, place);
    claims.set(id, { endpoint, grant, isGranted: false });
    place.waiting.set(holder, [...(place.waiting.get(holder) ?? []), id]);
    this.#advance(endpoint, place);
    return undefined;
  }

  /** Releases a permit or a place in the queue; unknown ids are ignored. */
  release(holder: Holder, id: number, pauseMs = 0): void {
    const claims = this.#claims.get(holder);
    const claim = claims?.get(id);
    if (claims === undefined || claim === undefined) return;
    claims.delete(id);
    if (claims.size === 0) this.#claims.delete(holder);
    const place = this.#endpoints.get(claim.endpoint);
    if (place === undefined) throw new Error(`a permit for ${claim.endpoint}, which is not there`);
    if (claim.isGranted) {
      place.granted -= 1;
      const untilMs = performance.now() + Math.min(pauseMs, MAX_PAUSE_MS);
      place.pausedUntilMs = Math.max(place.pausedUntilMs, untilMs);
    } else {
      const left = place.waiting.get(holder)?.filter((other) => other !== id) ?? [];
      if (left.length > 0) place.waiting.set(holder, left);
      else place.waiting.delete(holder);
    }
    this.#advance(claim.endpoint, place);
  }

  /** Releases all permits of a holder and its places in the queue. */
  leave(holder: Holder): void {
    // Waiting claims go first: a released permit must not be granted to a holder that is gone.
    const claims = [...(this.#claims.get(holder) ?? [])];
    for (const isGranted of [false, true]) {
      for (const [id, claim] of claims) if (claim.isGranted === isGranted) this.release(holder, id);
    }
  }

  #advance(endpoint: string, place: Endpoint): void {
    clearTimeout(place.timer);
    place.timer = undefined;
    while (place.granted < this.#concurrency) {
      const leftMs = place.pausedUntilMs - performance.now();
      const [next] = place.waiting;
      if (leftMs > 0) {
        // A waiting claim keeps the process alive; an endpoint without one is forgotten after its pause.
        place.timer = setTimeout(() => this.#advance(endpoint, place), Math.ceil(leftMs));
        if (next === undefined) place.timer.unref();
        return;
      }
      if (next === undefined) break;
      this.#grantFirst(place, next);
    }
    if (place.granted === 0 && place.waiting.size === 0) this.#endpoints.delete(endpoint);
  }

  #grantFirst(place: Endpoint, [holder, [id, ...rest]]: [Holder, number[]]): void {
    // The holder moves to the end of the queue, so that the others come first.
    place.waiting.delete(holder);
    if (rest.length > 0) place.waiting.set(holder, rest);
    const claim = id === undefined ? undefined : this.#claims.get(holder)?.get(id);
    if (claim === undefined) throw new Error('no claim waits for the permit');
    claim.isGranted = true;
    place.granted += 1;
    claim.grant();
  }
}

function createEndpoint(): Endpoint {
  return { granted: 0, pausedUntilMs: 0, timer: undefined, waiting: new Map() };
}
