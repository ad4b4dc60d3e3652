import type { ProtocolAdapter } from '../core/adapter.ts';
import { PREFIX_BYTES } from '../core/frame.ts';
import { type Packet, type PacketHead, parsePacket } from '../core/packet.ts';
import { HeadFields, readField } from './head.ts';
import { AlikeJson } from './json-alike.ts';
import { COLON, JsonScanner, OPEN_BRACE, parseJson } from './json-scanner.ts';

/** Compact UTF-8 JSON of the packet, keys in the sender's order. */
export const json: ProtocolAdapter = {
  name: 'json',
  open() {
    const alike = new AlikeJson();
    return {
      encode,
      decode(blob) {
        const known = alike.packetOf(blob);
        if (known !== undefined) return known;
        const packet = parsePacket(parseJson(blob));
        // JSON.parse takes the last of two equal keys; only the bytes still show that there were two.
        alike.learn(blob, peek(blob));
        return packet;
      },
      headerSize,
      peek(blob) {
        const known = alike.headOf(blob);
        if (known !== undefined) return known;
        const head = peek(blob);
        alike.learn(blob, head);
        return head;
      },
      alike: (run) => alike.find(run),
    };
  },
};

function encode(packet: Packet): Uint8Array {
  return Buffer.from(JSON.stringify(packet));
}

function headerSize(packet: Packet): number {
  return PREFIX_BYTES + Buffer.byteLength(JSON.stringify({ ...packet, payload: {} })) - '{}'.length;
}

/**
 * Reads the top level of the object and steps over what it does not need: brackets are counted, texts are skipped.
 * So faults inside a value that is stepped over (payload, `ts`, `reply_to`, `log_uri`: bad UTF-8, an open text
 * or object, a misplaced comma, `}` for `]`, a `ts` that is no number) and the syntax of node ids are left to `decode`.
 * All else that `decode` refuses is refused here too, and no byte behind the payload goes unseen.
 */
function peek(blob: Uint8Array): PacketHead {
  const head = new HeadFields();
  const scanner = new JsonScanner(blob);
  scanner.expect(OPEN_BRACE);
  do {
    const key = scanner.key(head);
    scanner.expect(COLON);
    readField(scanner, key, head);
  } while (scanner.hasMore());
  scanner.end();
  return head.finish();
}
