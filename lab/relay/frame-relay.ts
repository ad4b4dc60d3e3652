/**
 * The yardstick in Node, the twin of `c/relay.c`: frames found in place, each turn's runs written to each destination
 * with one writev. It looks at nothing but the lengths, so that it shows what Node takes without the hub's work.
 * Usage: frame-relay.ts PORT PORT …
 */
import { once } from 'node:events';
import net from 'node:net';

const PREFIX_BYTES = 4;
const SLAB_BYTES = 256 * 1024;
/** Least room for a read; with less, the rest of a frame moves to another slab. */
const MIN_READ_BYTES = 16 * 1024;
const MAX_QUEUE_BYTES = 4 * 1024 * 1024;

/** Slabs that no socket holds any more. */
const free: Buffer<ArrayBuffer>[] = [];

class Link {
  /** Whole frames of this turn. */
  runs: Buffer[] = [];
  #slab: Buffer<ArrayBuffer> = Buffer.allocUnsafeSlow(SLAB_BYTES);
  /** Full slabs, of which this turn may have runs. */
  #full: Buffer<ArrayBuffer>[] = [];
  /** The bytes of frames that are not whole yet. */
  #start = 0;
  #end = 0;

  /** Returns the room for the next read. Node asks for it directly after a read. */
  room(): Buffer {
    if (this.#slab.length - this.#end < MIN_READ_BYTES) this.#move();
    return this.#slab.subarray(this.#end);
  }

  /** Takes what was read. Returns true if frames became whole. */
  take(bytes: number): boolean {
    this.#end += bytes;
    let at = this.#start;
    while (this.#end - at >= PREFIX_BYTES) {
      const end = at + PREFIX_BYTES + this.#slab.readUInt32BE(at);
      if (end > this.#end) break;
      at = end;
    }
    if (at === this.#start) return false;
    this.runs.push(this.#slab.subarray(this.#start, at));
    this.#start = at;
    return true;
  }

  /** Ends the turn; `isSent`: no socket holds runs any more. */
  endTurn(isSent: boolean): void {
    this.runs = [];
    if (isSent) free.push(...this.#full);
    this.#full = [];
  }

  /** Moves the beginning of a frame to a slab with room for it. */
  #move(): void {
    const rest = this.#slab.subarray(this.#start, this.#end);
    const frame = rest.length < PREFIX_BYTES ? 0 : PREFIX_BYTES + rest.readUInt32BE(0);
    const size = Math.max(SLAB_BYTES, frame + MIN_READ_BYTES);
    const slab = (size === SLAB_BYTES ? free.pop() : undefined) ?? Buffer.allocUnsafeSlow(size);
    slab.set(rest);
    if (this.#slab.length === SLAB_BYTES) this.#full.push(this.#slab);
    this.#slab = slab;
    this.#start = 0;
    this.#end = rest.length;
  }
}

const sockets: net.Socket[] = [];
const links: Link[] = [];
let isDue = false;

function endTurn(): void {
  isDue = false;
  const busy = links.filter(({ runs }) => runs.length > 0);
  for (const [index, socket] of sockets.entries()) {
    socket.cork();
    for (const link of busy) if (link !== links[index]) for (const run of link.runs) socket.write(run);
    socket.uncork();
  }
  const isSent = sockets.every(({ writableLength }) => writableLength === 0);
  for (const link of busy) link.endTurn(isSent);
  if (sockets.some(({ writableLength }) => writableLength > MAX_QUEUE_BYTES))
    for (const socket of sockets) socket.pause();
}

for (const port of process.argv.slice(2)) {
  const link = new Link();
  const socket = net.connect({
    host: '127.0.0.1',
    port: Number(port),
    noDelay: true,
    onread: {
      buffer: () => link.room(),
      callback(bytes) {
        if (link.take(bytes) && !isDue) {
          isDue = true;
          setImmediate(endTurn);
        }
        return true;
      },
    },
  });
  // The process ends when a connection does: the measurement needs all agents.
  socket.on('close', () => process.exit(0)).on('error', () => process.exit(0));
  socket.on('drain', () => {
    if (sockets.every(({ writableLength }) => writableLength <= MAX_QUEUE_BYTES))
      for (const each of sockets) each.resume();
  });
  sockets.push(socket);
  links.push(link);
}
await Promise.all(sockets.map((socket) => once(socket, 'connect')));
console.log('ready');
