import { once } from 'node:events';
import http2, { type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import { MeshError, messageOf as textOf } from '../../../../core/contracts/errors.ts';
import { type Packet, shortReason } from '../../../../core/contracts/packet.ts';
import type { MessageForm } from '../../../scan/protobuf-message.ts';
import type { BindingSettings } from '../../contract/binding.ts';
import { checked } from '../bare/http-client.ts';
import { type A2aClient, newsOf, type SendOptions, type TaskNews } from '../client.ts';
import { sendResponseSchema, streamResponseSchema, taskResponseSchema } from '../model.ts';
import { messageOf } from '../packets.ts';
import { framed, messagesOf } from './frames.ts';
import {
  getTaskRequest,
  SERVICE_PATH,
  sendRequest,
  sendResponse,
  streamResponse,
  subscribeRequest,
  task,
} from './messages.ts';

/**
 * The least client of A2A over gRPC, on one connection of Node's own HTTP/2, which is open when this resolves.
 *
 * @throws MeshError `agent` where nobody answers
 */
export async function connectBareGrpc(address: string, settings: BindingSettings): Promise<A2aClient> {
  const client = new BareGrpcClient(new URL(address).host, settings);
  await client.opened();
  return client;
}

class BareGrpcClient implements A2aClient {
  readonly #url: URL;
  readonly #settings: BindingSettings;
  #session: ClientHttp2Session | undefined;

  constructor(target: string, settings: BindingSettings) {
    this.#url = new URL(`${settings.tls === null ? 'http' : 'https'}://${target}`);
    this.#settings = settings;
  }

  async send(packet: Packet, options: SendOptions, signal: AbortSignal): Promise<TaskNews> {
    const request = sendRequest.encode(this.#params(packet, options));
    const answer = await only(this.#call('SendMessage', request, sendResponse, signal));
    return newsOf(checked(sendResponseSchema, answer, 'answer'), packet.task_id);
  }

  async *stream(packet: Packet, signal: AbortSignal) {
    const request = sendRequest.encode(this.#params(packet, {}));
    for await (const event of this.#call('SendStreamingMessage', request, streamResponse, signal))
      yield newsOf(checked(streamResponseSchema, event, 'event'), packet.task_id);
  }

  async get(id: string, signal: AbortSignal): Promise<TaskNews> {
    const request = getTaskRequest.encode({ id, ...this.#history() });
    const answer = await only(this.#call('GetTask', request, task, signal));
    const found = checked(taskResponseSchema, answer, 'task');
    return newsOf({ task: found }, found.contextId);
  }

  async *subscribe(id: string, signal: AbortSignal) {
    let contextId = '';
    for await (const event of this.#call(
      'SubscribeToTask',
      subscribeRequest.encode({ id }),
      streamResponse,
      signal,
    )) {
      const news = checked(streamResponseSchema, event, 'event');
      if ('task' in news) contextId = news.task.contextId;
      yield newsOf(news, contextId);
    }
  }

  async opened(): Promise<void> {
    const session = this.#ready();
    const signal = AbortSignal.timeout(this.#settings.deadlineMs);
    try {
      // The server's settings come before anybody is asked.
      await Promise.race([once(session, 'remoteSettings', { signal }), once(session, 'close', { signal })]);
    } catch (cause) {
      session.destroy();
      throw new MeshError('agent', `A2A: ${this.#url.host}: ${textOf(cause)}`, { cause });
    }
    if (session.destroyed) throw new MeshError('agent', `A2A: nobody answers at ${this.#url.host}`);
  }

  close(): void {
    this.#session?.destroy();
  }

  #history() {
    return this.#settings.history ? {} : { historyLength: 0 };
  }

  #params(packet: Packet, { returnImmediately, webhook }: SendOptions): object {
    const taskPushNotificationConfig = webhook === undefined ? undefined : { url: webhook };
    const configuration = { ...this.#history(), returnImmediately, taskPushNotificationConfig };
    return { message: messageOf(packet), configuration };
  }

  /** Messages of a call's answer, and at its end what its status says. */
  async *#call(method: string, request: Uint8Array, form: MessageForm, signal: AbortSignal) {
    const stream = await this.#open(method, signal);
    let status: http2.IncomingHttpHeaders = {};
    stream.once('response', (head) => {
      if (head['grpc-status'] !== undefined) status = head;
    });
    stream.once('trailers', (tail) => {
      status = tail;
    });
    stream.end(framed(request));
    try {
      for await (const message of messagesOf(stream)) yield form.decode(message);
      // The trailers come behind the last byte.
      if (!stream.closed) await once(stream, 'close');
    } catch (cause) {
      if (cause instanceof MeshError) throw cause;
      throw new MeshError('agent', `A2A: ${method}: ${textOf(signal.aborted ? signal.reason : cause)}`, {
        cause,
      });
    } finally {
      if (!stream.closed) stream.close(http2.constants.NGHTTP2_CANCEL);
      if (this.#settings.keepAliveMs === 0) this.#session?.close();
    }
    const code = status['grpc-status'];
    if (code === '0') return;
    const reason = decodeURIComponent(String(status['grpc-message'] ?? 'no status came'));
    throw new MeshError('packet', `A2A: ${method} was refused (${code}): ${shortReason(reason)}`);
  }

  async #open(method: string, signal: AbortSignal): Promise<ClientHttp2Stream> {
    signal.throwIfAborted();
    const session = this.#ready();
    const head = {
      ':method': 'POST',
      ':path': `${SERVICE_PATH}${method}`,
      'content-type': 'application/grpc+proto',
      te: 'trailers',
      'a2a-version': '1.0',
    };
    try {
      return session.request(head, { signal });
    } catch (cause) {
      throw new MeshError('agent', `A2A: ${this.#url.host}: ${textOf(cause)}`, { cause });
    }
  }

  #ready(): ClientHttp2Session {
    const known = this.#session;
    if (known !== undefined && !known.closed && !known.destroyed) return known;
    const { tls: identity, noDelay, keepAliveMs } = this.#settings;
    const where = { host: this.#url.hostname, port: Number(this.#url.port) };
    const socket =
      identity === null
        ? net.connect(where)
        : tls.connect({ ...where, ca: identity.cert, minVersion: 'TLSv1.3', ALPNProtocols: ['h2'] });
    const session = http2.connect(this.#url, { createConnection: () => socket });
    // Every call of the session hears of its end by itself.
    session.on('error', () => session.destroy());
    if (keepAliveMs > 0) session.setTimeout(keepAliveMs, () => session.close());
    // Node turns Nagle's algorithm off when a session begins.
    if (!noDelay) session.once('connect', () => socket.setNoDelay(false));
    this.#session = session;
    return session;
  }
}

/** The one message of a call that is no stream; its status is read as well. */
async function only(messages: AsyncIterable<object>): Promise<object> {
  const all: object[] = [];
  for await (const each of messages) all.push(each);
  const [message] = all;
  if (message === undefined || all.length > 1)
    throw new MeshError('packet', `A2A: expected one answer of gRPC, came ${all.length}`);
  return message;
}
