import { readFileSync } from 'node:fs';
import { json } from './json.ts';
import { msgpack } from './msgpack.ts';

const session = { runId: 'r', self: 'a', peer: 'b', key: new Uint8Array(32) };
const arr = JSON.parse(readFileSync('/work/shared/data/proto/packets.json', 'utf8')).map((x: any) => x);
const enc = JSON.parse(readFileSync('/work/shared/data/proto/encodings.json', 'utf8')).encodings;
const acc = JSON.parse(readFileSync('/work/shared/data/proto/accounting.json', 'utf8')).rows;

import { deepStrictEqual } from 'node:assert';
import { lineOf } from '../core/ledger.ts';

for (const a of [json, msgpack]) {
  const c = a.open(session);
  for (const { name, packet } of arr) {
    const b = c.encode(packet);
    const w = enc.find((e: any) => e.name === name);
    if (
      a.name === 'json'
        ? Buffer.from(b).toString() !== w.json
        : Buffer.from(b).toString('hex') !== w.msgpack.msgpackr
    )
      console.log('BYTES', a.name, name);
    deepStrictEqual(c.decode(b), packet);
    const { type, from, to, id, task_id, tag, token_used } = packet;
    const h: any = { type, from, id, task_id, token_used };
    if (to !== undefined) h.to = to;
    if (tag !== undefined) h.tag = tag;
    deepStrictEqual(c.peek!(b), h);
    const l: any = lineOf(c, packet, b.length);
    const e = acc.find((x: any) => x.name === name).adapters[a.name];
    for (const k in e) if (l[k] !== e[k]) console.log('LINE', name, k, l[k], e[k]);
  }
}
let n = 0;
function t(l: string, f: () => unknown, N = 300000) {
  for (let i = 0; i < 30000; i++) f();
  let best = 1e9;
  for (let r = 0; r < 5; r++) {
    const s = process.hrtime.bigint();
    for (let i = 0; i < N; i++) f();
    best = Math.min(best, Number(process.hrtime.bigint() - s) / N);
  }
  console.log(l.padEnd(30), best.toFixed(0), 'ns');
}
const lean = (payload: any) => ({
  type: 'triples',
  from: 'extractor-1',
  id: `extractor-1-${n++}`,
  task_id: 'hotpot-17',
  token_used: 132,
  ts: 1788220800012,
  payload,
});
const p512 = lean({
  triples: Array.from({ length: 9 }, (_, i) => [`Entity Number ${i}`, 'was born in', `City ${i}`]),
});
const p512s = lean({ text: 'x'.repeat(380) });
for (const [l, p] of [
  ['lean512 (27 strings)', p512],
  ['lean512 (1 string)', p512s],
  ['golden search', arr[1].packet],
  ['golden large 10k', arr[6].packet],
] as any)
  for (const a of [json, msgpack]) {
    const c = a.open(session);
    const bs = Array.from({ length: 64 }, (_, i) =>
      Buffer.from(c.encode({ ...p, id: `extractor-1-${i + 1000}` })),
    );
    let k = 0;
    console.log(a.name, l, bs[0]!.length, 'B');
    t(' peek', () => c.peek!(bs[k++ & 63]!));
    t(' encode', () => c.encode(p));
    t(' decode', () => c.decode(bs[k++ & 63]!), 100000);
    t(' headerSize', () => c.headerSize(p));
  }
