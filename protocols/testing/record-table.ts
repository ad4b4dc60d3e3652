import { HUB_ID } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import { msgpackRecords } from '../msgpack-records.ts';

/** The structures of `msgpack-records`, as the hub offers them. */
export const recordTable = z
  .array(z.array(z.string()))
  .parse(msgpackRecords.join?.({ runId: 'test', self: HUB_ID }).offer);

const records = new Set(recordTable.map((keys) => keys.join()));

/** Returns true if `object` has the keys of a record, in its order. */
export const isRecord = (object: object) => records.has(Object.keys(object).join());
