import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { limiterMessageSchema, RateLimiter } from '@gaia-mesh/core/run/rate-limiter.ts';
import { onAbort } from '@gaia-mesh/core/system/process/abort.ts';

/** Grants permits for requests to a model server, which all agents of a run share. */
export interface Permits {
  /**
   * Waits for a permit.
   *
   * @param endpoint URL of the server
   * @throws MeshError `engine` if the run ends first, or no permit is available
   */
  acquire(endpoint: string, signal: AbortSignal): Promise<ReleasePermit>;
}

/** Returns the permit; with `pauseMs`, none is granted for that time, because the server asked for a pause. */
type ReleasePermit = (pauseMs?: number) => void;

/** An agent's channel to its launcher; `process` is one if it was started with one. */
interface LauncherChannel {
  readonly connected: boolean;
  readonly send?: (message: object, handle: undefined, options: undefined, done: () => void) => unknown;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'disconnect', listener: () => void): unknown;
}

/** Creates permits from the launcher's limiter (decided: roles are processes, so the launcher holds their common limits). */
export function createLauncherPermits(channel: LauncherChannel): Permits {
  const answers = new Map<number, (why?: string) => void>();
  const say = (message: object) => {
    // A closing channel emits `disconnect`, which ends all waiting requests.
    if (channel.connected) channel.send?.(message, undefined, undefined, () => undefined);
  };
  channel.on('message', (message: unknown) => {
    const parsed = limiterMessageSchema.safeParse(message);
    if (!parsed.success) return;
    if ('granted' in parsed.data) answers.get(parsed.data.granted)?.();
    else answers.get(parsed.data.refused)?.(parsed.data.why);
  });
  channel.on('disconnect', () => {
    for (const answer of answers.values()) answer('the launcher is gone');
  });
  return createPermits({
    acquire(id, endpoint, answer) {
      if (!channel.connected) return answer('the launcher is gone');
      answers.set(id, answer);
      say({ acquire: { id, endpoint } });
    },
    release(id, pauseMs) {
      answers.delete(id);
      say(pauseMs > 0 ? { release: id, pauseMs } : { release: id });
    },
  });
}

/** Creates permits from a limiter in this process, if there is no launcher. */
function createLocalPermits(): Permits {
  const limiter = new RateLimiter();
  const holder = {};
  return createPermits({
    acquire(id, endpoint, answer) {
      const why = limiter.acquire(holder, id, endpoint, answer);
      if (why !== undefined) answer(why);
    },
    release: (id, pauseMs) => limiter.release(holder, id, pauseMs),
  });
}

/** The permits that all engines of a process share. */
export const processPermits: Permits = createLocalPermits();

interface Limiter {
  /** @param answer called without an argument when the permit is granted, else with the reason */
  acquire(id: number, endpoint: string, answer: (why?: string) => void): void;
  release(id: number, pauseMs: number): void;
}

function createPermits(limiter: Limiter): Permits {
  let lastId = 0;
  return {
    async acquire(endpoint, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const id = ++lastId;
      const unwatch = onAbort(signal, () =>
        reject(new MeshError('engine', `the run ended before it was this agent's turn to ask ${endpoint}`)),
      );
      if (!signal.aborted) {
        limiter.acquire(id, endpoint, (why) => {
          if (why === undefined) resolve();
          else reject(new MeshError('engine', `no permit to ask ${endpoint}: ${why}`));
        });
      }
      try {
        await promise;
      } catch (error) {
        limiter.release(id, 0);
        throw error;
      } finally {
        unwatch();
      }
      return (pauseMs = 0) => limiter.release(id, pauseMs);
    },
  };
}
