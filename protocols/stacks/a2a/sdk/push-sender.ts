import type { StreamResponse } from '@a2a-js/sdk';
import type { PushNotificationSender, PushNotificationStore, ServerCallContext } from '@a2a-js/sdk/server';
import { MeshError } from '../../../../core/contracts/errors.ts';
import type { Sdk } from './sdk.ts';

/** As long as the SDK's own sender waits. */
const TIMEOUT_MS = 5_000;

/**
 * Calls webhooks in place of the SDK's sender, which uses the process's `fetch` (no pool, no certificate of the session's) and prints
 * a line for each event. The body is the SDK's; events of a task go one after the other, as with its sender.
 */
export class PooledPushSender implements PushNotificationSender {
  readonly #sdk: Sdk;
  readonly #store: PushNotificationStore;
  readonly #fetch: typeof fetch;
  readonly #sent = new Map<string, Promise<void>>();

  constructor(sdk: Sdk, store: PushNotificationStore, own: typeof fetch) {
    this.#sdk = sdk;
    this.#store = store;
    this.#fetch = own;
  }

  async send(event: StreamResponse, context: ServerCallContext): Promise<void> {
    const taskId = taskIdOf(event);
    const configs = await this.#store.load(taskId, context);
    if (configs.length === 0) return;
    const { body, contentType } = new this.#sdk.server.V1PushNotificationSerializer().serialize(event);
    const before = this.#sent.get(taskId) ?? Promise.resolve();
    const sent = before.then(async () => {
      const calls = configs.map(({ url, token, authentication }) =>
        this.#post(url, body, {
          'Content-Type': contentType,
          ...(authentication === undefined
            ? {}
            : { Authorization: `${authentication.scheme} ${authentication.credentials}` }),
          ...(authentication !== undefined || token === '' ? {} : { 'X-A2A-Notification-Token': token }),
        }),
      );
      await Promise.allSettled(calls);
    });
    this.#sent.set(taskId, sent);
    await sent;
    if (this.#sent.get(taskId) === sent) this.#sent.delete(taskId);
  }

  async #post(url: string, body: string, headers: Record<string, string>): Promise<void> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await this.#fetch(url, { method: 'POST', body, headers, signal });
    await response.arrayBuffer();
    if (!response.ok)
      throw new MeshError('agent', `${url}: expected the event to be taken, came ${response.status}`);
  }
}

function taskIdOf({ payload }: StreamResponse): string {
  return payload === undefined ? '' : payload.$case === 'task' ? payload.value.id : payload.value.taskId;
}
