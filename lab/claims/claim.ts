import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';
import { MeshError } from '../../core/contracts/errors.ts';
import { issuesOf } from '../../core/contracts/packet.ts';

const ENCODINGS = ['json', 'json-pretty', 'msgpack', 'toon', 'protobuf-schema'] as const;
export type Encoding = (typeof ENCODINGS)[number];
const MEASURES = ['bytes', 'gzipped bytes', 'tokens'] as const;

const expectSchema = z
  .strictObject({
    at_least: z.number().positive().exactOptional(),
    at_most: z.number().positive().exactOptional(),
    somewhere: z.literal(true).exactOptional(),
  })
  .refine(
    ({ at_least, at_most }) => (at_least === undefined) !== (at_most === undefined),
    'needs at_least or at_most',
  );
const names = z.array(z.string().min(1)).min(1);
/** Packets of the recording that ships: those of some parts, or of some types. */
const chosen = { parts: names.exactOptional(), types: names.exactOptional() };

const experimentSchema = z.discriminatedUnion('kind', [
  /** Payloads alone, in two encodings. */
  z.strictObject({
    kind: z.literal('encoding'),
    ...{
      of: z.enum(ENCODINGS),
      against: z.enum(ENCODINGS),
      measure: z.enum(MEASURES),
      ...chosen,
      expect: expectSchema,
    },
  }),
  /** Whole frames of two adapters, in bytes; for every part that is named. */
  z.strictObject({
    kind: z.literal('adapter'),
    of: z.string(),
    against: z.string(),
    ...chosen,
    expect: expectSchema,
  }),
  /** Two arms of `compare --stacks`, of which `against` is the baseline. */
  z.strictObject({
    kind: z.literal('stack'),
    ...{
      of: z.string(),
      against: z.string(),
      figure: z.enum(['latency', 'cpu', 'saturated']),
      expect: expectSchema,
    },
  }),
  z.strictObject({ kind: z.literal('none'), why: z.string().min(1) }),
]);

const claimSchema = z.strictObject({
  id: z.string().regex(/^[a-z0-9-]+$/),
  source: z.strictObject({ title: z.string(), url: z.url() }),
  says: z.string().min(1),
  condition: z.string().min(1),
  experiment: experimentSchema,
  differs: z.string().min(1).exactOptional(),
  is_neighbour: z.literal(true).exactOptional(),
  confounded: names.exactOptional(),
});
export type Claim = z.infer<typeof claimSchema>;
export type Experiment = Claim['experiment'];
export type Expectation = z.infer<typeof expectSchema>;

/** @throws MeshError `config` for a file that is not as the schema says */
export function readClaims(): readonly Claim[] {
  const text = readFileSync(path.join(import.meta.dirname, 'claims.yaml'), 'utf8');
  const result = z.array(claimSchema).min(1).safeParse(parse(text));
  if (!result.success) throw new MeshError('config', `claims.yaml: ${issuesOf(result.error)}`);
  return result.data;
}
