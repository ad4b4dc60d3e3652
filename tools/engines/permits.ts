import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { limiterMessageSchema, RateLimiter } from '@gaia-mesh/core/run/rate-limiter.ts';
import { onAbort } from '@gaia-mesh/core/system/process/abort.ts';

/** Who may send a request to a model server, and when: all agents of a run share the server. */
export interface Permits {
  /**
   * Waits for its turn.
   *
   * @param endpoint URL of the server
   * @throws MeshError `engine` when the run ends first, or no permit can be had
   */
  acquire(endpoint: string, signal: AbortSignal): Promise<ReleasePermit>;
}

/** Gives the permit back; with `pauseMs` nobody gets one for so long, since the server wants to be left alone. */
type ReleasePermit = (pauseMs?: number) => void;

/** The process's channel to its launcher; `process` is one where it was started with one. */
type LauncherChannel = Pick<NodeJS.Process, 'send' | 'on' | 'connected'>;

/** Permits of the launcher's limiter (decided: roles are processes, so what limits them together lives with the launcher). */
export function createLauncherPermits(channel: LauncherChannel): Permits {
  const answers = new Map<number, (why?: string) => void>();
  const say = (message: object) => {
    // A channel that is closing says so by `disconnect`, which ends all that waits.
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

/** Permits of a limiter in this process, for whoever has no launcher. */
export function createLocalPermits(limiter = new RateLimiter()): Permits {
  const holder = {};
  return createPermits({
    acquire(id, endpoint, answer) {
      const why = limiter.acquire(holder, id, endpoint, answer);
      if (why !== undefined) answer(why);
    },
    release: (id, pauseMs) => limiter.release(holder, id, pauseMs),
  });
}

/** All engines of a process share its servers. */
export const processPermits: Permits = createLocalPermits();

interface Limiter {
  /** @param answer without a word when the permit is granted, else with the reason why it is not */
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
