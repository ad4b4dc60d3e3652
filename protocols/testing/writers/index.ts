import type { EnvelopeWriter } from '../../contract/suite.ts';
import { cborWriter } from './cbor.ts';
import { jsonWriter } from './json.ts';
import { msgpackWriter } from './msgpack.ts';
import { protobufWriter } from './protobuf.ts';
import { toonWriter } from './toon.ts';

const { nest: _, ...jsonWithoutNesting } = jsonWriter;

/**
 * The writers that fill in the contract suite for the adapters of this project. There is none for
 * `msgpack-records`, whose packets have one order of their keys, nor for `a2a-proto`, whose tests write
 * messages that no packet has.
 */
export const writers: Readonly<Record<string, EnvelopeWriter>> = {
  json: jsonWriter,
  a2a: jsonWriter,
  mcp: jsonWriter,
  // A payload inserted behind the signature tests nothing of nesting.
  anp: jsonWithoutNesting,
  'anp-e2ee': jsonWithoutNesting,
  msgpack: msgpackWriter,
  cbor: cborWriter,
  protobuf: protobufWriter,
  toon: toonWriter,
};
