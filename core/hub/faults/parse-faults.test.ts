import { describe, expect, test } from 'vitest';
import { FAULT_LIMITS } from '../../contracts/limits.ts';
import { parseFaults } from './parse-faults.ts';

const agents = [
  { id: '0', tool: 'search' },
  { id: '1', tool: 'extract' },
  { id: 'a-b', tool: 'triple' },
  { id: '3', tool: 'reason' },
  { id: '4', tool: 'reason' },
];
const parse = (text: string) => parseFaults(text, agents);

describe('a fault is read', () => {
  test.each([
    ['drop=1%', { kind: 'drop', rate: 0.01 }],
    ['drop=0%', { kind: 'drop', rate: 0 }],
    ['drop=100%', { kind: 'drop', rate: 1 }],
    ['dup=0.5%', { kind: 'dup', rate: 0.005 }],
    ['corrupt=0.1%', { kind: 'corrupt', rate: 0.001 }],
    ['drop=100%:search>extract', { kind: 'drop', rate: 1, route: { from: '0', to: '1' } }],
    ['dup=1%:hub>a-b', { kind: 'dup', rate: 0.01, route: { from: 'hub', to: 'a-b' } }],
    ['delay=20ms', { kind: 'delay', ms: 20, spreadMs: 0 }],
    ['delay=20ms±10', { kind: 'delay', ms: 20, spreadMs: 10 }],
    ['delay=20ms±20', { kind: 'delay', ms: 20, spreadMs: 20 }],
    ['delay=0.5s±100ms', { kind: 'delay', ms: 500, spreadMs: 100 }],
    ['delay=2s+-1', { kind: 'delay', ms: 2000, spreadMs: 1000 }],
    ['delay=60s:3>0', { kind: 'delay', ms: 60_000, spreadMs: 0, route: { from: '3', to: '0' } }],
    ['kill=extract@3s', { kind: 'kill', agent: '1', atMs: 3000 }],
    ['kill=3@0s', { kind: 'kill', agent: '3', atMs: 0 }],
    ['lie=extract@triples', { kind: 'lie', agent: '1', type: 'triples' }],
    ['lie=a-b@plan.result', { kind: 'lie', agent: 'a-b', type: 'plan.result' }],
    ['kill=1@86400s', { kind: 'kill', agent: '1', atMs: FAULT_LIMITS.timeMs }],
  ])('%s', (text, expected) => {
    expect(parse(text)).toEqual([{ ...expected, text }]);
  });

  test('beside others, with spaces between them', () => {
    const faults = parse('drop=1%, drop=2%:0>1,kill=1@1s, kill=1@2s');

    expect(faults.map(({ text }) => text)).toEqual(['drop=1%', 'drop=2%:0>1', 'kill=1@1s', 'kill=1@2s']);
  });
});

describe('a fault is refused with the part that is wrong and an example', () => {
  test.each([
    ['', '"" is no fault', 'drop=1%'],
    ['drop', '"": expected 0% to 100%', 'drop=1%'],
    ['drop=1', '"1": expected 0% to 100%', 'drop=1%'],
    ['drop=101%', '"101%": expected 0% to 100%', 'drop=1%'],
    ['drop=-1%', '"-1%"', 'drop=1%'],
    ['dup=x%', '"x%"', 'dup=0.5%'],
    ['drop=1%:0', '"0": expected FROM>TO', ':search>extract'],
    ['drop=1%:0>hub', '"hub": no agent has this id or tool', '0 (search)'],
    ['lose=1%', '"lose" is no fault; there are drop, dup', 'drop=1%'],
    ['delay=20', '"20": expected a time with its unit', 'delay=20ms±10'],
    ['delay=0ms', '"0ms": expected more than 0', 'delay=20ms±10'],
    ['delay=61s', '"61s": expected more than 0 and at most 60s', 'delay=20ms±10'],
    ['delay=20ms±21', '"21": a delivery cannot come before it was sent', 'delay=20ms±10'],
    ['kill=extract', '"": expected a time', 'kill=extract@3s'],
    ['kill=extrakt@3s', '"extrakt": no agent has this id or tool; there are 0 (search)', 'kill=extract@3s'],
    ['kill=reason@3s', '"reason": agents 3, 4 have this tool; name one by its id', 'kill=extract@3s'],
    ['kill=1@86401s', '"86401s": expected at most 86400s', 'kill=extract@3s'],
    ['lie=extract', '"": expected the type of a packet', 'lie=extract@triples'],
    ['lie=nobody@x', '"nobody": no agent has this id or tool', 'lie=extract@triples'],
    ['lie=0@x,lie=search@x', 'there are two lie', ''],
    ['drop=1%,drop=2%', 'there are two drop for the same deliveries', ''],
    ['drop=1%,', '"" is no fault', 'drop=1%'],
  ])('%j', (text, part, example) => {
    const refusal = expect.objectContaining({ code: 'usage', message: expect.stringContaining(part) });

    expect(() => parse(text)).toThrow(refusal);
    expect(() => parse(text)).toThrow(example);
    expect(() => parse(text)).toThrow(/^faults: /);
  });

  test('and so are more than anybody needs', () => {
    const kills = (count: number) => Array.from({ length: count }, () => 'kill=1@1s').join(',');

    expect(parse(kills(FAULT_LIMITS.faults))).toHaveLength(FAULT_LIMITS.faults);
    expect(() => parse(kills(FAULT_LIMITS.faults + 1))).toThrow('at most 100');
  });
});
