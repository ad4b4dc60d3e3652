import { randomUUID } from 'node:crypto';
import { parseForeignUrl, type UrlPolicy } from '@gaia-mesh/core/system/outgoing-url.ts';
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
  readonly #configs = new WeakMap<AgentTask, Map<string, PushConfig>>();

  constructor(isSupported: boolean, send: PushSender, mayPush: UrlPolicy = () => true) {
    this.#isSupported = isSupported;
    this.#send = send;
    this.#mayPush = mayPush;
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
    configs.set(id, own);
    return own;
  }

  /** @throws MeshError with the fault `taskNotFound`, which A2A has for every missing object */
  get(task: AgentTask, id: string): PushConfig {
    const config = this.#of(task).get(id);
    if (config === undefined)
      throw createFaultError('taskNotFound', `task ${task.id} has no webhook ${id.slice(0, 64)}`);
    return config;
  }

  list(task: AgentTask): object {
    return { configs: [...this.#of(task).values()], nextPageToken: '' };
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
   * (§4.3.3).
   */
  #follow(task: AgentTask, configs: ReadonlyMap<string, PushConfig>): void {
    let sent = Promise.resolve();
    const observe = (event: TaskEvent) => {
      const to = [...configs.values()];
      sent = sent.then(async () => {
        await Promise.allSettled(to.map((config) => this.#send(config, event)));
      });
      if ('statusUpdate' in event && TERMINAL_STATES.has(event.statusUpdate.status.state))
        task.observers.delete(observe);
    };
    task.observers.add(observe);
  }
}
