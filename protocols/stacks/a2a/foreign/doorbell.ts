import { randomBytes } from 'node:crypto';
import { onAbort } from '@gaia-mesh/core/system/process/abort.ts';
import { type HttpServer, listenHttp } from '../../http/http-server.ts';

const SETTINGS = { tls: null, keepAliveMs: 5_000 };

/**
 * A webhook that is called when a task has changed. It neither trusts nor reads the body of a call: the
 * caller of {@link rung} fetches the task again, from the agent itself.
 */
export class Doorbell {
  readonly #server: HttpServer;
  readonly #path: string;
  readonly #waiting = new Set<() => void>();
  #rings = 0;

  private constructor(server: HttpServer, path: string) {
    this.#server = server;
    this.#path = path;
  }

  static async start(): Promise<Doorbell> {
    const path = `/${randomBytes(16).toString('hex')}`;
    let bell: Doorbell | undefined;
    const server = await listenHttp((request, response) => {
      const isOurs = request.url === path && request.method === 'POST';
      if (isOurs && bell !== undefined) bell.#ring();
      request.resume();
      response.writeHead(isOurs ? 204 : 404).end();
    }, SETTINGS);
    bell = new Doorbell(server, path);
    return bell;
  }

  /** Configuration that the agent receives. */
  get config(): object {
    return { url: `${this.#server.url}${this.#path}` };
  }

  /** Resolves when a call comes, or after `patienceMs`. */
  async rung(patienceMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#rings > 0) {
      this.#rings = 0;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, patienceMs);
    const unwatch = onAbort(signal, () => reject(signal.reason));
    this.#waiting.add(resolve);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      unwatch();
      this.#waiting.delete(resolve);
    }
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  /** Wakes all waiting callers, which ask the agent about their tasks. */
  #ring(): void {
    if (this.#waiting.size === 0) this.#rings += 1;
    for (const wake of this.#waiting) wake();
  }
}
