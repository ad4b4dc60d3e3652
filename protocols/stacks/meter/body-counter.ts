/**
 * Position of messages in a body: the body is one message, each event of a stream has one, or each is behind
 * gRPC's prefix or on a line.
 */
type BodyFormat = 'whole' | 'events' | 'grpc' | 'lines';

/** Takes counts of messages, without the bytes that the transport puts around them. */
export interface MessageCount {
  add(bytes: number, messages: number): void;
}

/** Returns the format of a body with this media type. */
export function detectBodyFormat(contentType: string | undefined): BodyFormat {
  if (contentType?.startsWith('text/event-stream')) return 'events';
  if (contentType?.startsWith('application/grpc')) return 'grpc';
  return 'whole';
}

/** Counts one body, given in pieces as they pass. It keeps no bytes. */
export type BodyCounter = (chunk: Buffer) => void;

export function createBodyCounter(format: BodyFormat, count: MessageCount): BodyCounter {
  switch (format) {
    case 'whole':
      return createWholeCounter(count);
    case 'events':
      return createEventCounter(count);
    case 'grpc':
      return createGrpcCounter(count);
    case 'lines':
      return createLineCounter(count);
  }
}

function createWholeCounter(count: MessageCount): BodyCounter {
  let isCounted = false;
  return ({ length }) => {
    if (length === 0) return;
    count.add(length, isCounted ? 0 : 1);
    isCounted = true;
  };
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const DATA = Buffer.from('data:');

/**
 * Counts server-sent events (HTML standard, "Interpreting an event stream"): the bytes behind `data:` and one
 * space are the message, other fields and line ends are not. A carriage return belongs to the line end if a
 * newline follows; alone it ends no line here.
 */
function createEventCounter(count: MessageCount): BodyCounter {
  /** Bytes of the line so far: up to 6 of them decide whether it is data. */
  let lineBytes = 0;
  let isData = true;
  let hasData = false;
  let endsInReturn = false;
  const begin = () => {
    lineBytes = 0;
    isData = true;
    endsInReturn = false;
  };
  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      const newline = chunk.indexOf(NEWLINE, at);
      const end = newline === -1 ? chunk.length : newline;
      for (; at < end && lineBytes < DATA.length; at++, lineBytes++) {
        if (chunk[at] !== DATA[lineBytes]) isData = false;
        endsInReturn = chunk[at] === RETURN;
      }
      if (at < end && lineBytes === DATA.length && isData) {
        lineBytes += 1;
        if (chunk[at] === SPACE) at += 1;
      }
      if (at < end) {
        lineBytes += end - at;
        endsInReturn = chunk[end - 1] === RETURN;
        if (isData) count.add(end - at, 0);
      }
      if (newline === -1) return;
      const isWholeData = isData && lineBytes >= DATA.length;
      if (isWholeData) {
        hasData = true;
        if (endsInReturn) count.add(-1, 0);
      } else if (lineBytes === 0 || (lineBytes === 1 && endsInReturn)) {
        if (hasData) count.add(0, 1);
        hasData = false;
      }
      at = newline + 1;
      begin();
    }
  };
}

const GRPC_PREFIX_BYTES = 5;

/**
 * Counts messages behind a byte of flags and a length of four bytes, big-endian (gRPC over HTTP/2,
 * "Length-Prefixed-Message").
 */
function createGrpcCounter(count: MessageCount): BodyCounter {
  let prefixBytes = 0;
  let length = 0;
  let left = 0;
  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      if (left > 0) {
        const taken = Math.min(left, chunk.length - at);
        count.add(taken, 0);
        left -= taken;
        at += taken;
        continue;
      }
      if (prefixBytes > 0) length = length * 256 + (chunk[at] ?? 0);
      prefixBytes += 1;
      at += 1;
      if (prefixBytes < GRPC_PREFIX_BYTES) continue;
      count.add(0, 1);
      left = length;
      prefixBytes = 0;
      length = 0;
    }
  };
}

/** Counts lines, each of which is a message (MCP over stdio); its newline is not part of it. */
function createLineCounter(count: MessageCount): BodyCounter {
  return (chunk) => {
    let lines = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
    count.add(chunk.length - lines, lines);
  };
}
