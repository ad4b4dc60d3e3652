import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_MESSAGE_DEPTH } from '@gaia-mesh/core/contracts/limits.ts';
import { parseForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import type { StackSettings } from '../contract/stack.ts';
import { type HttpServer, listenHttp, readBody } from '../http/http-server.ts';
import { type TaskUpdate, toTaskUpdate } from './client.ts';
import { EventQueue } from './event-queue.ts';
import { streamResponseSchema } from './model.ts';

/** One exchange that waits for events. */
interface Call {
  readonly url: string;
  readonly events: EventQueue<TaskUpdate>;
  close(): void;
}

/** Open calls by the path of their URL. */
type Calls = Map<string, { readonly events: EventQueue<TaskUpdate>; readonly contextId: string }>;

/** A server on the loopback that an agent calls back (§4.3.3), with a path for each exchange. */
export class Webhook {
  readonly #server: HttpServer;
  readonly #calls: Calls;
  #count = 0;

  private constructor(server: HttpServer, calls: Calls) {
    this.#server = server;
    this.#calls = calls;
  }

  static async start(settings: StackSettings): Promise<Webhook> {
    const calls: Calls = new Map();
    const server = await listenHttp(
      (request, response) => {
        const call = calls.get(request.url ?? '');
        readBody(request)
          .then((body) => {
            if (call === undefined) return response.writeHead(404).end();
            call.events.push(
              toTaskUpdate(
                streamResponseSchema.parse(
                  parseForeignJson(body.toString(), { maxDepth: MAX_MESSAGE_DEPTH }),
                ),
                call.contextId,
              ),
            );
            return response.writeHead(204).end();
          })
          .catch((error: unknown) => {
            call?.events.fail(error);
            response.writeHead(400).end(toErrorMessage(error));
          });
      },
      { ...settings, advertisedPort: undefined },
    );
    return new Webhook(server, calls);
  }

  open(contextId: string, signal: AbortSignal): Call {
    const path = `/${++this.#count}`;
    const events = new EventQueue<TaskUpdate>();
    const abort = () => events.fail(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    this.#calls.set(path, { events, contextId });
    return {
      url: `${this.#server.url}${path}`,
      events,
      close: () => {
        signal.removeEventListener('abort', abort);
        this.#calls.delete(path);
      },
    };
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}
