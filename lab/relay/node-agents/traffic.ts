import * as z from 'zod';

/**
 * Orders of the load to each of its Node agents. Each order is answered with a state; `finish` is answered
 * when `due` messages have arrived.
 */
export const agentOrderSchema = z.object({
  kind: z.enum(['begin', 'state', 'stop', 'finish']),
  due: z.int(),
});
export type AgentOrder = z.infer<typeof agentOrderSchema>;

/** State of an agent by its own clocks: messages sent and received so far, idle time, and processor time. */
export const agentStateSchema = z.object({
  sent: z.int(),
  heard: z.int(),
  bad: z.int(),
  atMs: z.number(),
  idleMs: z.number(),
  cpuMs: z.number(),
});
export type AgentState = z.infer<typeof agentStateSchema>;

/** Distinct messages of one sender. */
const CYCLE = 1000;
const CYCLE_BYTES = 512 * 1024;
/** One in this many messages is compared byte by byte. */
const COMPARED = 64;

const FROM = '{"type":"e","from":"a';
const FROM_AT = FROM.length;
const ID_AT = FROM_AT + '00","id":"'.length;

/**
 * Traffic of one agent of the load, sent and received. Every agent sends as fast as the slowest receives:
 * none is more than a window ahead of any other, so the data under way is bounded without any other signal.
 */
export class AgentTraffic {
  readonly #self: number;
  readonly #bytes: number;
  readonly #window: number;
  /** Messages by sender. */
  readonly #messages: readonly (readonly Buffer[])[];
  /** Number of messages received, by sender. */
  readonly #got: number[];
  sent = 0;
  heard = 0;
  /** Messages that differ from the sender's message at that position. */
  bad = 0;

  /** `windowBytes` bounds the lead over the agent from which it has received least. */
  constructor(self: number, agents: number, bytes: number, windowBytes: number) {
    this.#self = self;
    this.#bytes = bytes;
    this.#window = Math.max(1, Math.floor(windowBytes / bytes));
    this.#got = Array.from({ length: agents }, () => 0);
    const length = Math.min(CYCLE, Math.max(2, Math.floor(CYCLE_BYTES / bytes)));
    this.#messages = this.#got.map((_, sender) =>
      Array.from({ length }, (_none, number) => buildMessage(sender, number, bytes)),
    );
  }

  hear(blob: Uint8Array): void {
    const sender = readHexDigit(blob, FROM_AT) * 16 + readHexDigit(blob, FROM_AT + 1);
    const messages = this.#messages[sender];
    const number = this.#got[sender];
    if (messages === undefined || number === undefined || sender === this.#self) {
      this.bad += 1;
      return;
    }
    const place = number % messages.length;
    const isRight = blob.length === this.#bytes && readNumber(blob) === place;
    const isCompared = number % COMPARED === 0;
    if (!isRight || (isCompared && messages[place]?.equals(blob) !== true)) this.bad += 1;
    this.#got[sender] = number + 1;
    this.heard += 1;
  }

  /** Returns the messages that may be sent now; they count as sent. */
  next(): Buffer[] {
    const least = Math.min(...this.#got.filter((_, sender) => sender !== this.#self));
    const own = this.#messages[this.#self] ?? [];
    const next: Buffer[] = [];
    for (; this.sent < least + this.#window; this.sent++) {
      const message = own[this.sent % own.length];
      if (message !== undefined) next.push(message);
    }
    return next;
  }
}

function buildMessage(sender: number, number: number, bytes: number): Buffer {
  const from = sender.toString(16).padStart(2, '0');
  const id = String(number).padStart(5, '0');
  const head = `${FROM}${from}","id":"${id}","task_id":"t00","token_used":1,"ts":1700000000000,"payload":{"t":"`;
  const end = '"}}';
  const letter = String.fromCharCode(97 + ((sender + number) % 26));
  return Buffer.from(head + letter.repeat(bytes - head.length - end.length) + end);
}

function readHexDigit(blob: Uint8Array, at: number): number {
  const character = blob[at] ?? 0;
  return character < 0x61 ? character - 0x30 : character - 0x57;
}

/** Reads a message's number in the cycle of its sender. */
function readNumber(blob: Uint8Array): number {
  let number = 0;
  for (let at = ID_AT; at < ID_AT + 5; at++) number = number * 10 + (blob[at] ?? 0) - 0x30;
  return number;
}
