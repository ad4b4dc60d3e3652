import type { Command } from 'commander';
import type { Codec, ProtocolAdapter } from '../../core/contracts/adapter.ts';
import { MeshError, messageOf } from '../../core/contracts/errors.ts';
import { lineOf } from '../../core/contracts/ledger.ts';
import { MAX_FRAME_BYTES } from '../../core/contracts/limits.ts';
import { HUB_ID, type Packet } from '../../core/contracts/packet.ts';
import { adapterOf } from '../../evaluation/teams/user-options.ts';
import { complain } from '../../evaluation/terminal/print.ts';
import { json } from '../../protocols/json.ts';
import { type InputLine, inputLines } from '../command-line/line-input.ts';
import { isRead, printLine } from '../command-line/line-output.ts';
import { extendKeys, freshKeys, type Keys, readKeys } from '../wire/key-file.ts';
import { Members } from '../wire/members.ts';

interface WireOptions {
  readonly adapter: string;
  readonly hex?: boolean;
  readonly base64?: boolean;
  readonly keys?: string;
  readonly session?: string;
}

type Coding = 'hex' | 'base64';

export function wire(command: Command): void {
  command
    .argument('<what>', 'encode (packets as JSON lines in, blobs out), decode (the reverse) or ledger')
    .requiredOption('--adapter <spec>', 'ADAPTER[+LAYER…], e.g. msgpack+zstd+ed25519')
    .option('--hex', 'blobs in hexadecimal (the default)')
    .option('--base64', 'blobs in base64')
    .option('--session <file>', 'keys that encode and decode share; made on first use, readable by you alone')
    .option('--keys <file>', 'the same, of your own: it is only read')
    .action(run);
}

/**
 * Writes packets as an adapter puts them into frames, reads them back, or says what their bytes are for: lines in, lines out.
 * A line that is refused is named on standard error with the reason; the others go on, and the exit code is 1.
 */
async function run(what: string, options: WireOptions): Promise<void> {
  if (options.hex && options.base64) throw new MeshError('usage', 'choose one of --hex and --base64');
  if (options.keys !== undefined && options.session !== undefined) {
    throw new MeshError('usage', 'choose one of --keys and --session');
  }
  const adapter = await adapterOf(options.adapter);
  const coding = options.base64 ? 'base64' : 'hex';
  switch (what) {
    case 'encode':
      refuseWithoutKeys(adapter, options);
      return writePackets(adapter, options, (_codec, _packet, blob) => Buffer.from(blob).toString(coding));
    case 'ledger':
      return writePackets(adapter, options, ledgerText);
    case 'decode':
      refuseWithoutKeys(adapter, options);
      return readPackets(adapter, options, coding);
    default:
      throw new MeshError('usage', `wire ${JSON.stringify(what)}: expected encode, decode or ledger`);
  }
}

/** Without a file nobody could ever read what was written. */
function refuseWithoutKeys(adapter: ProtocolAdapter, { keys, session }: WireOptions): void {
  if (adapter.join === undefined || keys !== undefined || session !== undefined) return;
  throw new MeshError(
    'usage',
    `${adapter.name} has keys: share them with --session FILE, or give --keys FILE`,
  );
}

async function writePackets(
  adapter: ProtocolAdapter,
  options: WireOptions,
  textOf: (codec: Codec, packet: Packet, blob: Uint8Array) => string,
): Promise<void> {
  const parsed = await parsedPackets();
  const senders = new Set(parsed.map(({ packet }) => packet.from));
  const addressees = parsed.flatMap(({ packet }) => packet.to ?? []);
  const members = new Members(adapter, keysFor(options, [...new Set([...senders, ...addressees])]));
  const codecs = new Map([...senders].map((node) => [node, members.open(node)]));
  for (const { line, packet } of parsed) {
    if (!isRead()) return;
    const text = attempt(line, () => {
      const codec = codecs.get(packet.from) ?? members.open(packet.from);
      return textOf(codec, packet, checkSize(codec.encode(packet)));
    });
    if (text !== undefined) await printLine(text);
  }
}

/** All of them, before the first is written: those who read must know every member. */
async function parsedPackets(): Promise<{ readonly line: InputLine; readonly packet: Packet }[]> {
  const unkeyed = new Uint8Array(32);
  const session = {
    runId: '',
    self: HUB_ID,
    peer: '*',
    linkKey: unkeyed,
    runKey: unkeyed,
    offers: new Map(),
  };
  const codec = json.open(session);
  const parsed = [];
  for await (const line of inputLines(process.stdin)) {
    // Stricter than JSON.parse: a key that comes twice is refused.
    const packet = attempt(line, () => codec.decode(line.bytes));
    if (packet !== undefined) parsed.push({ line, packet });
  }
  return parsed;
}

async function readPackets(adapter: ProtocolAdapter, options: WireOptions, coding: Coding): Promise<void> {
  let codec: Codec | undefined;
  for await (const line of inputLines(process.stdin)) {
    if (!isRead()) return;
    // The keys are read when the first blob is there: `encode … | decode …` starts both at once.
    codec ??= new Members(adapter, keysOf(options)).open(HUB_ID);
    const reader = codec;
    const packet = attempt(line, () => reader.decode(checkSize(blobOf(line, coding))));
    if (packet !== undefined) await printLine(JSON.stringify(packet));
  }
}

function ledgerText(codec: Codec, packet: Packet, blob: Uint8Array): string {
  const { packets: _one, ...sizes } = lineOf(codec, packet, blob.length, codec.layerBytes?.last);
  return JSON.stringify(sizes);
}

function keysFor(options: WireOptions, members: readonly string[]): Keys {
  if (options.session !== undefined) return extendKeys(options.session, [HUB_ID, ...members]);
  return options.keys === undefined ? { ...freshKeys(), members } : keysOf(options);
}

function keysOf({ keys, session }: WireOptions): Keys {
  if (keys !== undefined) return readKeys('--keys', keys);
  return session === undefined ? freshKeys() : readKeys('--session', session);
}

/** What `work` comes to; undefined for what it refuses, which is named with its line. */
function attempt<T>(line: InputLine, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof MeshError) || error.code !== 'packet') throw error;
    complain(`gaia-mesh: line ${line.number}: ${messageOf(error)}`);
    process.exitCode = 1;
    return undefined;
  }
}

function checkSize(blob: Uint8Array): Uint8Array {
  if (blob.length <= MAX_FRAME_BYTES) return blob;
  throw new MeshError('packet', `${blob.length} bytes; a frame has at most ${MAX_FRAME_BYTES}`);
}

function blobOf({ bytes }: InputLine, coding: Coding): Buffer {
  const text = bytes.toString('latin1').trim();
  const blob = Buffer.from(text, coding);
  // Node stops at the first character that does not belong, and says nothing.
  if (blob.toString(coding) === (coding === 'hex' ? text.toLowerCase() : text)) return blob;
  throw new MeshError('packet', `not ${coding}: ${text.slice(0, 40)}`);
}
