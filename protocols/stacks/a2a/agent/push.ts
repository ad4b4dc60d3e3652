import { randomUUID } from 'node:crypto';
import type { KeptBytes } from '@gaia-mesh/core/system/kept-bytes.ts';
import { parseForeignUrl, type UrlPolicy } from '@gaia-mesh/core/system/outgoing-url.ts';
import { estimateBytes } from '@gaia-mesh/core/system/parse-json.ts';
import { type PushConfig, TERMINAL_STATES } from '../model.ts';
import { createFaultError } from './faults.ts';
import type { AgentTask, TaskEvent } from './task.ts';

/** Delivers an event to a webhook. */
export type PushSender = (config: PushConfig, event: TaskEvent) => Promise<void>;

/** Maximum number of a task's webhooks. A client has one; a few may watch. */
const MAX_CONFIGS_OF_TASK = 16;

/** Webhooks that clients registered (§3.1.7 to §3.1.10). They end with the task. */
export class PushConfigs {
  readonly #isSupported: boolean;
  readonly #send: PushSender;
  readonly #mayPush: UrlPolicy;
  readonly #kept: KeptBytes | undefined;
  readonly #configs = new WeakMap<AgentTask, Map<string, PushConfig>>();

  constructor(
    isSupported: boolean,
    send: PushSender,
    { mayPush = () => true, kept }: { readonly mayPush?: UrlPolicy; readonly kept?: KeptBytes },
  ) {
    this.#isSupported = isSupported;
    this.#send = send;
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
    const observe = (event: TaskEvent) => {
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
}

/** Returns what clients may see of a webhook: they share the list, and its secrets are of the client that named it. */
function withoutSecrets({ id, taskId, url, authentication }: PushConfig): PushConfig {
  return { id, taskId, url, authentication: authentication && { scheme: authentication.scheme } };
}
