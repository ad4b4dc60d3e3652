import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net, { type Socket } from 'node:net';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import type { Inbox } from '../contract/stack.ts';
import { ControlChannel, type Question } from '../control-channel.ts';
import { listenInPrivate } from '../listen.ts';
import { findPeer, type Language } from './installation.ts';

const packetQuestion = z.looseObject({ session: z.int(), packet: z.unknown() });

/**
 * A process in another language that has servers and clients of stacks. This process has one of each language: its CPU
 * time and memory are those of the one server or client that a measured process has.
 */
export class LanguageProcess {
  readonly #channel: ControlChannel;
  readonly #inboxes = new Map<number, Inbox>();
  readonly #socket: Socket;
  #sessions = 0;
  #open = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#channel = new ControlChannel(socket, async (question, signal) => {
      const { session, packet } = packetQuestion.parse(question);
      const inbox = this.#inboxes.get(session);
      if (inbox === undefined) throw new MeshError('agent', 'its server is closed');
      return inbox(parsePacket(packet), signal);
    });
  }

  /** Returns the running process of a language, or starts it. */
  static async of(language: Language, purpose: string): Promise<LanguageProcess> {
    const known = await processes.get(language)?.catch(() => undefined);
    if (known?.isOpen === true) return known;
    const started = LanguageProcess.#start(language, purpose);
    processes.set(language, started);
    return started;
  }

  static async #start(language: Language, purpose: string): Promise<LanguageProcess> {
    const { command, args } = findPeer(language, purpose);
    const server = net.createServer();
    const { file, remove } = await listenInPrivate(server);
    // It ends with the socket, however this process ends.
    const child = spawn(command, [...args, file], { stdio: ['ignore', 'ignore', 'inherit'] });
    try {
      const ended = new AbortController();
      child.once('error', (error) => ended.abort(error));
      child.once('exit', () =>
        ended.abort(new MeshError('agent', `${purpose}: its process ended at its start`)),
      );
      const [socket]: Socket[] = await once(server, 'connection', { signal: ended.signal });
      if (socket === undefined) throw new Error('no connection');
      child.unref();
      socket.unref();
      return new LanguageProcess(socket);
    } catch (error) {
      throw error instanceof Error && error.cause instanceof Error ? error.cause : error;
    } finally {
      server.close();
      remove();
    }
  }

  get isOpen(): boolean {
    return this.#channel.isOpen;
  }

  /** Opens a server or a client, which `ask` with its session refers to. */
  async open(question: Question, inbox?: Inbox): Promise<{ session: number; value: unknown }> {
    this.#sessions += 1;
    const session = this.#sessions;
    if (inbox !== undefined) this.#inboxes.set(session, inbox);
    try {
      return { session, value: await this.ask({ ...question, session }) };
    } catch (error) {
      this.#inboxes.delete(session);
      throw error;
    }
  }

  /** @throws MeshError `agent` if the process fails at it; the reason of `signal` if it is aborted */
  async ask(question: Question, signal?: AbortSignal): Promise<unknown> {
    // Only questions keep this process alive.
    if (this.#open === 0) this.#socket.ref();
    this.#open += 1;
    try {
      return await this.#channel.ask(question, signal);
    } finally {
      this.#open -= 1;
      if (this.#open === 0) this.#socket.unref();
    }
  }

  async close(session: number): Promise<void> {
    if (this.isOpen) await this.ask({ do: 'close', session });
    this.#inboxes.delete(session);
  }
}

const processes = new Map<Language, Promise<LanguageProcess>>();
