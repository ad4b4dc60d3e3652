import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Stack, StackTraits } from '@gaia-mesh/stacks/contract/stack.ts';
import { expect, test } from 'vitest';
import { chooseStacks, combineArms, toStackSettings } from './arms.ts';
import { framedTcp } from './testing/framed-tcp.ts';

function findStack(name: string, more: Partial<Stack> = {}, traits: Partial<StackTraits> = {}): Stack {
  return { ...framedTcp, name, ...more, traits: { ...framedTcp.traits, ...traits } };
}

const mcp = findStack('mcp/http', { protocol: 'mcp', transport: 'http1' }, { hasTls: true });
const stdio = findStack('mcp/stdio', { protocol: 'mcp', transport: 'stdio' });
const [{ settings: usual } = { settings: undefined }] = combineArms([{ stack: mcp }]).arms;
if (usual === undefined) throw new Error('expected an arm');
const unpacked = findStack('x/http', { implementation: 'sdk' });

test('every combination of levels is an arm, and what a stack does not have is left out by name', () => {
  const { arms, leftOut } = combineArms([{ stack: mcp }, { stack: stdio }], ['tls=on,off', 'size=64']);
  expect(arms.map(({ name }) => name)).toEqual([
    'mcp/http bare tls=on size=64',
    'mcp/http bare tls=off size=64',
    'mcp/stdio bare tls=off size=64',
  ]);
  expect(leftOut).toEqual(['mcp/stdio bare tls=on: it has no TLS']);
  expect(arms[0]).toMatchObject({
    settings: { ...usual, tls: true, size: 64 },
    levels: { tls: 'on', size: '64' },
  });
});

test('a factor sets what it is called for', () => {
  const factors = ['work=200', 'keepalive=0', 'connections=1'];
  const [arm] = combineArms([{ stack: mcp }], factors).arms;
  expect(arm?.settings).toEqual({ ...usual, workMs: 200, keepAliveMs: 0, connections: 1 });
  const identity = { key: 'k', cert: 'c' };
  expect(toStackSettings({ ...usual, tls: true }, identity)).toMatchObject({ tls: identity });
  expect(toStackSettings(usual, identity)).toMatchObject({ tls: null });
  expect(toStackSettings(usual, null)).not.toHaveProperty('size');
});

test('a factor that is nothing to a stack is not varied for it', () => {
  const { arms, leftOut } = combineArms(
    [{ stack: stdio }, { stack: framedTcp }],
    ['work=0,5', 'connections=1,4'],
  );
  expect(arms.map(({ name }) => name)).toEqual([
    'mcp/stdio bare work=0',
    'mcp/stdio bare work=5',
    'framed/tcp bare work=0 connections=1',
    'framed/tcp bare work=0 connections=4',
    'framed/tcp bare work=5 connections=1',
    'framed/tcp bare work=5 connections=4',
  ]);
  expect(leftOut).toContain('mcp/stdio bare connections=1: it has one pair of pipes');
});

test('a factor that no stack takes is refused with the reasons', () => {
  const python = findStack('mcp/http', { implementation: 'python' }, { fixed: ['connections'] });
  expect(() => combineArms([{ stack: python }, { stack: stdio }], ['connections=1'])).toThrow(
    '--factor connections has no effect: mcp/http python connections=1: its implementation decides that by itself; mcp/stdio bare connections=1: it has one pair of pipes',
  );
  expect(() => combineArms([{ stack: stdio }], [], 'wan')).toThrow(
    '--network has no effect: mcp/stdio bare network=wan: its ends are on one machine',
  );
});

test('a message that an implementation would refuse is not sent', () => {
  const small = findStack('a2a/jsonrpc', {}, { largestMessageBytes: 102_400 });
  const { arms, leftOut } = combineArms([{ stack: small }], ['size=4096,65536']);
  expect(arms).toHaveLength(1);
  expect(leftOut).toEqual(['a2a/jsonrpc bare size=65536: it takes messages of at most 102400 bytes']);
});

test.each([
  ['tls', 'expected NAME=LEVEL'],
  ['tls=maybe', 'expected on or off, not "maybe"'],
  ['size=63', 'expected bytes from 64'],
  ['size=1e3', 'expected bytes from 64'],
  ['concurrency=0', 'expected a number from 1 to 256'],
  ['network=moon', 'expected none, lan, wan, mobile or rtt=40ms,rate=10mbit, not "moon"'],
  ['colour=red', 'unknown factor; expected one of tls, connections'],
])('refuses --factor %s', (text, message) => {
  expect(() => combineArms([], [text])).toThrow(message);
});

test('puts a network between the ends of all arms that have one', () => {
  const { arms, leftOut } = combineArms([{ stack: mcp }, { stack: stdio }], [], 'rtt=7.5ms,rate=10mbit');
  expect(arms.map(({ settings }) => settings.network)).toEqual([{ rttMs: 7.5, bitsPerS: 10e6 }, null]);
  expect(leftOut).toEqual(['mcp/stdio bare network=rtt=7.5ms,rate=10mbit: its ends are on one machine']);
});

test('refuses more arms than can be measured', () => {
  const sizes = Array.from({ length: 10 }, (_, index) => 64 + index).join(',');
  const factors = [`size=${sizes}`, 'tls=on,off', 'connections=1,2,3,4'];
  expect(() => combineArms([{ stack: mcp }], factors)).toThrow(
    '1 stacks with all combinations of levels are 80 arms',
  );
});

const both = ['sdk', 'bare'];

function knownOf(stacks: readonly Stack[]) {
  const entries = stacks.map((stack) => ({
    ...stack,
    load: async () => {
      if (stack === unpacked) throw new MeshError('config', 'x/http needs no-such-package: npm install it');
      return stack;
    },
  }));
  return {
    names: stacks.map(({ name }) => name),
    findStackEntries: (name: string) => entries.filter((entry) => entry.name === name),
  };
}

test('of all stacks those without their packages are left out, and one that was named says what to install', async () => {
  const known = knownOf([mcp, unpacked]);
  const { chosen, leftOut } = await chooseStacks({ names: ['all'], implementations: both }, known);
  expect(chosen.map(({ stack }) => stack)).toEqual([mcp]);
  expect(leftOut).toEqual(['x/http sdk: x/http needs no-such-package: npm install it']);
  await expect(chooseStacks({ names: ['x/http'], implementations: both }, known)).rejects.toThrow(
    'npm install it',
  );
});

test('other languages are mixed with JavaScript, one end at a time', async () => {
  const stacks = (['sdk', 'bare', 'python', 'go'] as const).map((implementation) =>
    findStack('mcp/http', { implementation }),
  );
  const names = ['mcp/http'];
  const implementations = stacks.map(({ implementation }) => implementation);
  const known = { names, findStackEntries: () => knownOf(stacks).findStackEntries('mcp/http') };
  const { chosen } = await chooseStacks({ names, implementations }, known);
  expect(combineArms(chosen).arms.map(({ implementation }) => implementation)).toEqual([
    'sdk',
    'sdk→python',
    'sdk→go',
    'bare',
    'python',
    'python→sdk',
    'go',
    'go→sdk',
  ]);
});

test('all packages that named stacks lack are said at once, each with its name', async () => {
  const missing = (name: string, packages: readonly string[]) => ({
    name,
    implementation: 'sdk' as const,
    packages,
    load: async () => {
      throw new MeshError('config', `${name} needs ${packages.join(' ')}`);
    },
  });
  const entries = [missing('a/http', ['a@1', 'shared@2']), missing('b/http', ['b@3', 'shared@2'])];
  const known = {
    names: [],
    findStackEntries: (wanted: string) => entries.filter(({ name }) => name === wanted),
  };
  await expect(chooseStacks({ names: ['a/http', 'b/http'], implementations: both }, known)).rejects.toThrow(
    '--stacks a/http sdk, b/http sdk need packages that are not installed: npm install a@1 shared@2 b@3',
  );
});

test('the order is that of the names, the baseline first, and each is there once', async () => {
  const known = knownOf([mcp, stdio]);
  const { chosen } = await chooseStacks({ names: ['mcp/stdio', 'all'], implementations: both }, known);
  expect(chosen.map(({ stack }) => stack.name)).toEqual(['mcp/stdio', 'mcp/http']);
});

test('what ships is found by its names, and a name that nothing has is answered with those', async () => {
  const { chosen } = await chooseStacks({ names: ['all'], implementations: ['bare'] });
  expect(chosen[0]?.stack.name).toBe('mesh/json');
  expect(chosen.length).toBeGreaterThan(1);
  await expect(chooseStacks({ names: ['mcq'], implementations: both })).rejects.toThrow('mcq');
});
