import type { PacketHead } from '../core/packet.ts';
import { type EnvelopeKey, HeadFields, notAPacket, readField } from './head.ts';
import { CLOSE_BRACKET, COLON, JsonScanner, OPEN_BRACE, OPEN_BRACKET } from './json-scanner.ts';

/**
 * Where the keys of a packet are in another protocol's JSON, so that a head is found without decoding the payload: an object
 * of shapes, a list of exactly one shape, the key of a packet that the value belongs to, what to do with a text that stands
 * for such a value, or `skip`.
 */
export type JsonShape =
  | EnvelopeKey
  | TakeText
  | 'skip'
  | readonly [JsonShape]
  | { readonly [key: string]: JsonShape };

type TakeText = (text: string, head: HeadFields) => void;

/**
 * A peek for JSON of that shape. It refuses keys that the shape does not have and keys that come twice, at every level down
 * to the packet's; values of `skip`, the payload, and keys that are missing beside the packet's are left to `decode`.
 */
export function peekFor(shape: JsonShape): (blob: Uint8Array) => PacketHead {
  const node = nodeOf(shape);
  return (blob) => {
    const head = new HeadFields();
    const scanner = new JsonScanner(blob);
    readNode(scanner, node, head);
    scanner.end();
    return head.finish();
  };
}

/** Refuses what a peek would refuse for its keys, where there is no head to be seen. */
export function keyCheckFor(shape: JsonShape): (blob: Uint8Array) => void {
  const node = nodeOf(shape);
  return (blob) => {
    const scanner = new JsonScanner(blob);
    readNode(scanner, node, new HeadFields());
    scanner.end();
  };
}

type Node =
  | { readonly kind: 'skip' }
  | { readonly kind: 'field'; readonly key: EnvelopeKey }
  | { readonly kind: 'text'; readonly take: TakeText }
  | { readonly kind: 'list'; readonly item: Node }
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, Member> };

interface Member {
  readonly bit: number;
  readonly node: Node;
}

function nodeOf(shape: JsonShape): Node {
  if (shape === 'skip') return { kind: 'skip' };
  if (typeof shape === 'string') return { kind: 'field', key: shape };
  if (typeof shape === 'function') return { kind: 'text', take: shape };
  if (isList(shape)) return { kind: 'list', item: nodeOf(shape[0]) };
  const members = Object.entries(shape).map(([key, value], index): [string, Member] => [
    key,
    { bit: 1 << index, node: nodeOf(value) },
  ]);
  return { kind: 'object', members: new Map(members) };
}

function isList(
  shape: readonly [JsonShape] | { readonly [key: string]: JsonShape },
): shape is readonly [JsonShape] {
  return Array.isArray(shape);
}

/** As deep as the shape, whatever the bytes. */
function readNode(scanner: JsonScanner, node: Node, head: HeadFields): void {
  switch (node.kind) {
    case 'skip':
      scanner.skipValue();
      break;
    case 'field':
      readField(scanner, head.named(node.key), head);
      break;
    case 'text':
      node.take(scanner.text(), head);
      break;
    case 'list':
      scanner.expect(OPEN_BRACKET);
      readNode(scanner, node.item, head);
      scanner.expect(CLOSE_BRACKET);
      break;
    case 'object':
      readMembers(scanner, node.members, head);
  }
}

function readMembers(scanner: JsonScanner, members: ReadonlyMap<string, Member>, head: HeadFields): void {
  let seen = 0;
  scanner.expect(OPEN_BRACE);
  do {
    const key = scanner.text();
    const member = members.get(key);
    if (member === undefined)
      throw notAPacket(`a key ${JSON.stringify(key.slice(0, 64))} that has no place there`);
    if ((seen & member.bit) !== 0) throw notAPacket(`the key ${key} comes twice`);
    seen |= member.bit;
    scanner.expect(COLON);
    readNode(scanner, member.node, head);
  } while (scanner.hasMore());
}
