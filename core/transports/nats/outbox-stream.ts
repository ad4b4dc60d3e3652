import {
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  type MsgRequest,
} from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import type { Journal } from '../../agent/outbox/journal.ts';
import { MeshError, messageOf } from '../../contracts/errors.ts';
import type { NatsServer } from './nats-server.ts';
import { OutboxSeal, SEAL_BYTES } from './outbox-seal.ts';
import { outboxesOf } from './subjects.ts';

/** What a run that was killed left there goes by itself after this time. No run is longer. */
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000;
/** Of all runs together. An outbox is below 16 MiB. */
const MAX_STREAM_BYTES = 1024 ** 3;
/** A line that is longer than a message may be says in its messages which part each is, from 1 on: `2/3`. */
const PART_HEADER = 'Gaia-Part';
/** Sequence of the message of its subject that its writer knew as the last one; 0 where there was none. */
const AFTER_HEADER = 'Gaia-After';
/** A message's headers count towards its longest length. */
const MAX_HEADER_BYTES = 256;
/** A stream of the name is there, set up in another way (`JSStreamNameExistErr` of nats-server). */
const OTHER_CONFIGURATION = 10_058;

const NS_PER_MS = 1e6;

/** Has the server keep outboxes below `root`. A stream of that name which is there already may be set up as its owner likes. */
export async function keepOutboxes(server: NatsServer, root: string): Promise<void> {
  const { stream, all } = outboxesOf(root);
  const manager = await server.jetStream({ asks: true });
  try {
    await manager.streams.add({
      name: stream,
      subjects: [all],
      storage: 'file',
      retention: 'limits',
      // What is there is still needed; what does not fit is refused, and its agent says so.
      discard: 'new',
      max_bytes: MAX_STREAM_BYTES,
      max_age: MAX_AGE_MS * NS_PER_MS,
    });
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === OTHER_CONFIGURATION) return;
    throw new MeshError('io', `NATS server ${server.address.shown}: stream ${stream}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** The run is over: nobody asks for its outboxes any more. */
export async function forgetOutboxes(server: NatsServer, root: string, runId: string): Promise<void> {
  const { stream, ofRun } = outboxesOf(root);
  const manager = await server.jetStream({ asks: false });
  await manager.streams.purge(stream, { filter: ofRun(runId) });
}

interface OutboxPlace {
  readonly root: string;
  readonly runId: string;
  readonly node: string;
  /** What agent and hub share. Whoever does not have it can neither read the outbox nor write what its agent takes for its own. */
  readonly secret: string;
}

/**
 * An outbox on a NATS server: an agent may go on with it on another host. A message says after which one it comes, so of two
 * processes that take themselves for the same agent only the one that began last can write.
 */
export class StreamJournal implements Journal {
  readonly where: string;
  readonly #manager: JetStreamManager;
  readonly #stream: string;
  readonly #subject: string;
  readonly #maxBytes: number;
  readonly #seal: OutboxSeal;
  /** Sequence of the last message; 0 where there is none. */
  #last = 0;

  private constructor(
    server: NatsServer,
    manager: JetStreamManager,
    { root, runId, node, secret }: OutboxPlace,
  ) {
    const { stream, of } = outboxesOf(root);
    this.#manager = manager;
    this.#stream = stream;
    this.#subject = of(runId, node);
    this.#maxBytes = Math.max(1, server.maxMessageBytes - MAX_HEADER_BYTES - SEAL_BYTES);
    this.#seal = new OutboxSeal(secret, runId, node);
    this.where = `NATS server ${server.address.shown}: stream ${stream}, ${this.#subject}`;
  }

  /** @throws MeshError `io` where the server has no JetStream, or `keepOutboxes` was not called */
  static async open(server: NatsServer, place: OutboxPlace): Promise<StreamJournal> {
    const manager = await server.jetStream({ asks: false });
    return new StreamJournal(server, manager, place);
  }

  async read(): Promise<string[]> {
    const lines: string[] = [];
    let parts: Uint8Array[] = [];
    for (let from = 1; ; from = this.#last + 1) {
      const message = await this.#next(from);
      if (message === null) return lines;
      const part = message.header.get(PART_HEADER);
      const after = Number(message.header.get(AFTER_HEADER));
      // What was before the first one may have been deleted.
      const isInPlace = this.#last === 0 || after === this.#last;
      const bytes = isInPlace ? this.#seal.open(message.data, { after, part }) : undefined;
      this.#last = message.seq;
      // Somebody else wrote it.
      if (bytes === undefined) continue;
      const [number, of] = partIn(part);
      // Its writer did not come to the end of another line.
      if (number === 1) parts = [];
      parts.push(bytes);
      if (number === of) lines.push(Buffer.concat(parts).toString('utf8'));
    }
  }

  async append(line: string): Promise<void> {
    await this.#write(line);
  }

  async replace(lines: readonly string[]): Promise<void> {
    const before = this.#last;
    let first: number | undefined;
    for (const line of lines) {
      const seq = await this.#write(line);
      first ??= seq;
    }
    // A server that is to delete what is before its first message deletes everything.
    if (before === 0) return;
    const request = { filter: this.#subject, ...(first === undefined ? {} : { seq: first }) };
    await this.#manager.streams.purge(this.#stream, request);
  }

  close(): void {
    // The connection is the agent's.
  }

  /** Sequence of the line's first message. */
  async #write(line: string): Promise<number> {
    const bytes = Buffer.from(line);
    const parts = Math.max(1, Math.ceil(bytes.length / this.#maxBytes));
    let first: number | undefined;
    for (let part = 1; part <= parts; part++) {
      const piece = bytes.subarray((part - 1) * this.#maxBytes, part * this.#maxBytes);
      const place = { after: this.#last, part: parts > 1 ? `${part}/${parts}` : '' };
      const header = headers();
      header.set(AFTER_HEADER, String(place.after));
      if (parts > 1) header.set(PART_HEADER, place.part);
      const { seq } = await this.#manager.jetstream().publish(this.#subject, this.#seal.seal(piece, place), {
        headers: header,
        expect: { lastSubjectSequence: this.#last },
      });
      this.#last = seq;
      first ??= seq;
    }
    return first ?? 0;
  }

  /** From whoever leads the stream: a follower's copy may be old. */
  async #next(from: number) {
    const request: MsgRequest & { next_by_subj: string } = { seq: from, next_by_subj: this.#subject };
    try {
      return await this.#manager.streams.getMessage(this.#stream, request);
    } catch (error) {
      if (!(error instanceof JetStreamApiError) || error.code !== JetStreamApiCodes.StreamNotFound)
        throw error;
      throw new MeshError('io', `there is no stream ${this.#stream}; a run makes it`, { cause: error });
    }
  }
}

function partIn(text: string): [number, number] {
  const [part = 1, of = 1] = text === '' ? [] : text.split('/').map(Number);
  return [part, of];
}
