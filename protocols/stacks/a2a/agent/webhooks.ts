import { randomUUID } from 'node:crypto';
import type { KeptBytes } from '@gaia-mesh/core/system/kept-bytes.ts';
import { parseForeignUrl, type UrlPolicy } from '@gaia-mesh/core/system/outgoing-url.ts';
import { estimateBytes } from '@gaia-mesh/core/system/parse-json.ts';
import { HttpClient } from '../../http/http-client.ts';
import { createFaultError } from '../../json-rpc.ts';
import { legacy } from '../bare/legacy.ts';
import { type PushConfig, type StreamResponse, TERMINAL_STATES } from '../model.ts';
import type { AgentTask } from './task.ts';

/** Maximum number of a task's webhooks. A client has one; a few may watch. */
const MAX_CONFIGS_OF_TASK = 16;
const HTTP_SETTINGS = { tls: null, connections: 4, keepAliveMs: 5_000 };
/** Maximum number of webhook hosts to which connections are kept. */
const MAX_CLIENTS = 64;
/** Time after which a webhook without an answer is given up, so that it does not delay other events. */
const PUSH_TIMEOUT_MS = 5_000;

/** Webhooks that clients registered (§3.1.7 to §3.1.10). They end with the task. */
export class Webhooks {
  readonly #isSupported: boolean;
  readonly #mayPush: UrlPolicy;
  readonly #kept: KeptBytes | undefined;
  readonly #configs = new WeakMap<AgentTask, Map<string, PushConfig>>();
  /** Clients by origin, the least recently used first. */
  readonly #clients = new Map<string, HttpClient>();

  constructor(
    isSupported: boolean,
    { mayPush = () => true, kept }: { readonly mayPush?: UrlPolicy; readonly kept?: KeptBytes },
  ) {
    this.#isSupported = isSupported;
    this.#mayPush = mayPush;
    this.#kept = kept;
  }

  add(task: AgentTask, config: PushConfig): PushConfig {
    const configs = this.#of(task);
    const url = parseForeignUrl(config.url);
    if (url === undefined || !this.#mayPush(url))
      throw createFaultError('invalidParams', `this agent does not call ${url?.host ?? 'such a URL'}`);
    const id = config.id === undefined || config.id === '' ? randomUUID() : config.id;
    const own = { ...config, id };
    if (!configs.has(id) && configs.size === MAX_CONFIGS_OF_TASK)
      throw createFaultError('invalidParams', `task ${task.id} has ${MAX_CONFIGS_OF_TASK} webhooks already`);
    task.hold(own);
    configs.set(id, own);
    return withoutSecrets(own);
  }

  /** @throws MeshError with the fault `taskNotFound`, which A2A has for every missing object */
  get(task: AgentTask, id: string): PushConfig {
    const config = this.#of(task).get(id);
    if (config === undefined)
      throw createFaultError('taskNotFound', `task ${task.id} has no webhook ${id.slice(0, 64)}`);
    return withoutSecrets(config);
  }

  list(task: AgentTask): object {
    return { configs: [...this.#of(task).values()].map(withoutSecrets), nextPageToken: '' };
  }

  remove(task: AgentTask, id: string): object {
    this.#of(task).delete(id);
    return {};
  }

  close(): void {
    for (const http of this.#clients.values()) http.close();
    this.#clients.clear();
  }

  #of(task: AgentTask): Map<string, PushConfig> {
    if (!this.#isSupported) throw createFaultError('pushNotSupported', 'this agent calls no webhooks');
    const known = this.#configs.get(task);
    if (known !== undefined) return known;
    const configs = new Map<string, PushConfig>();
    this.#configs.set(task, configs);
    this.#follow(task, configs);
    return configs;
  }

  /**
   * Sends events to webhooks one after the other. A failed delivery is not tried again: A2A attempts it once
   * (§4.3.3). Events for which there is no room while the webhooks are slow are left out.
   */
  #follow(task: AgentTask, configs: ReadonlyMap<string, PushConfig>): void {
    let sent = Promise.resolve();
    const observe = (event: StreamResponse) => {
      const to = [...configs.values()];
      // Each delivery has its own text of the event.
      const bytes = this.#kept === undefined ? 0 : estimateBytes(event) * (1 + to.length);
      if (to.length > 0 && this.#kept?.take(bytes) !== false)
        sent = sent.then(async () => {
          await Promise.allSettled(to.map((config) => this.#send(config, event)));
          this.#kept?.give(bytes);
        });
      if ('statusUpdate' in event && TERMINAL_STATES.has(event.statusUpdate.status.state))
        task.observers.delete(observe);
    };
    task.observers.add(observe);
  }

  async #send(config: PushConfig, event: StreamResponse): Promise<void> {
    const { origin, pathname, search } = new URL(config.url);
    const isLegacy = config.protocolVersion === '0.3';
    await this.#findClient(origin).send({
      method: 'POST',
      path: `${pathname}${search}`,
      headers: {
        'Content-Type': isLegacy ? 'application/json' : 'application/a2a+json',
        ...buildAuthorization(config),
      },
      body: JSON.stringify(isLegacy ? legacy.writeEvent(event) : event),
      signal: AbortSignal.timeout(PUSH_TIMEOUT_MS),
    });
  }

  #findClient(origin: string): HttpClient {
    const http = this.#clients.get(origin) ?? new HttpClient(origin, HTTP_SETTINGS, this.#mayPush);
    this.#clients.delete(origin);
    this.#clients.set(origin, http);
    const [oldest] = this.#clients;
    if (this.#clients.size > MAX_CLIENTS && oldest !== undefined) {
      this.#clients.delete(oldest[0]);
      oldest[1].close();
    }
    return http;
  }
}

function buildAuthorization({ authentication, token }: PushConfig): Record<string, string> {
  if (authentication !== undefined)
    return { Authorization: `${authentication.scheme} ${authentication.credentials ?? ''}`.trim() };
  return token === undefined || token === '' ? {} : { 'X-A2A-Notification-Token': token };
}

/** Returns what clients may see of a webhook: they share the list, and its secrets are of the client that named it. */
function withoutSecrets({ id, taskId, url, authentication }: PushConfig): PushConfig {
  return { id, taskId, url, authentication: authentication && { scheme: authentication.scheme } };
}
