import type { ChildProcess } from 'node:child_process';
import * as z from 'zod';

/**
 * What an agent and its launcher say about permits, beside what else they say: an agent asks before each request to a model
 * server and gives the permit back after it. `pauseMs`: the server wants nobody to ask for so long.
 */
const agentMessageSchema = z.union([
  z.strictObject({
    acquire: z.strictObject({ id: z.int().nonnegative(), endpoint: z.string().min(1).max(2048) }),
  }),
  z.strictObject({ release: z.int().nonnegative(), pauseMs: z.number().nonnegative().optional() }),
]);

/** Whether a message of an agent's is for the limiter. */
export const isPermitMessage = (message: unknown): boolean => agentMessageSchema.safeParse(message).success;

/** What the launcher says: an id of {@link agentMessageSchema}'s `acquire`, granted or refused. */
export const limiterMessageSchema = z.union([
  z.strictObject({ granted: z.int().nonnegative() }),
  z.strictObject({ refused: z.int().nonnegative(), why: z.string() }),
]);
type LimiterMessage = z.infer<typeof limiterMessageSchema>;

/** Requests that a model server works on at once: a local one takes its turns, a cloud one counts by the minute. */
const DEFAULT_CONCURRENCY = 4;
/** Permits that one agent holds or waits for; an agent works on 256 packets at most. */
const MAX_PERMITS_PER_AGENT = 1024;
/** Endpoints at once: a team has a handful. */
const MAX_ENDPOINTS = 256;
/** One agent can stop all others for no longer; limits are per minute. */
const MAX_PAUSE_MS = 60_000;

interface Claim {
  readonly endpoint: string;
  readonly grant: () => void;
  isGranted: boolean;
}

/** Who holds permits or waits for them: an agent's process, or a part of one's own. */
type Holder = object;

interface Endpoint {
  granted: number;
  pausedUntilMs: number;
  timer: NodeJS.Timeout | undefined;
  /** Ids in the order that they came, by holder; the holder whose turn is next comes first. */
  readonly waiting: Map<Holder, number[]>;
}

/**
 * Grants permits for requests to model servers that several agents share: at most `concurrency` at a time for each endpoint,
 * holders in turn, so that one with many requests does not keep the others waiting.
 */
export class RateLimiter {
  readonly #concurrency: number;
  readonly #claims = new Map<Holder, Map<number, Claim>>();
  readonly #endpoints = new Map<string, Endpoint>();

  constructor(options: { readonly concurrency?: number } = {}) {
    this.#concurrency = options.concurrency ?? DEFAULT_CONCURRENCY;
  }

  /** Serves an agent's process over its channel for as long as it has one; what it holds then is given back. */
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
   * @returns why it never will be
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

  /** Gives a permit back, or no longer waits for it; an id that is not known is nobody's. */
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

  /** Gives back all that a holder has, and forgets what it waits for. */
  leave(holder: Holder): void {
    // What waits first: a permit that comes back must not go to who is gone.
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
        // Who waits keeps its process alive, and nobody else: an endpoint that nobody waits for is forgotten after its pause.
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
    // At the end of the row: the others come first now.
    place.waiting.delete(holder);
    if (rest.length > 0) place.waiting.set(holder, rest);
    const claim = id === undefined ? undefined : this.#claims.get(holder)?.get(id);
    if (claim === undefined) throw new Error('a permit is waited for by nobody');
    claim.isGranted = true;
    place.granted += 1;
    claim.grant();
  }
}

function createEndpoint(): Endpoint {
  return { granted: 0, pausedUntilMs: 0, timer: undefined, waiting: new Map() };
}
