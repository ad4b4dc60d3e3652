import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type { Partner } from '@gaia-mesh/core/contracts/tool.ts';
import { describe, expect, test } from 'vitest';
import { describeToolNeeds } from '../registry.ts';
import type { RoleWork } from '../roles/role-work.ts';
import { isForeign, isUnseen } from './foreign.ts';
import { OfferedTools } from './offered.ts';
import { parseA2aOptions, parseMcpOptions, readVariable } from './options.ts';

const COMMON = { timeout_s: 60, max_bytes: 8 * 1024 * 1024, budget_tokens: 4000, asks_models: true };

describe('the options of a foreign tool', () => {
  test('have their defaults, and leave those of the team to it', () => {
    const team = { iterations: 3, retry: 1, time_s: 60 };
    expect(parseMcpOptions({ command: 'node', ...team })).toEqual({
      ...COMMON,
      command: 'node',
      args: [],
      env: [],
      network: false,
    });
    expect(parseMcpOptions({ url: 'https://a.example/mcp' })).toEqual({
      ...COMMON,
      url: 'https://a.example/mcp',
    });
    expect(parseA2aOptions({ url: 'http://127.0.0.1:1/', later: 'push' })).toEqual({
      ...COMMON,
      timeout_s: 300,
      url: 'http://127.0.0.1:1/',
      later: 'push',
    });
  });

  test.each<[options: JsonObject, message: string]>([
    [{ command: '' }, 'command'],
    [{ command: 'node', url: 'https://a.example/' }, 'command'],
    [{ command: 'node', else: 1 }, 'else'],
    [{ command: 'node', args: Array(101).fill('a') }, 'args'],
    [{ command: 'node', env: Array(51).fill('A') }, 'env'],
    [{ command: 'node', env: ['A B'] }, 'must be the name of a variable of the environment'],
    [{ command: 'node', env: ['1A'] }, 'must be the name of a variable of the environment'],
    [{ command: 'node', env: [`A${'B'.repeat(128)}`] }, 'must be the name of a variable of the environment'],
    [{ command: 'node', tools: [] }, 'tools'],
    [{ command: 'node', tools: [''] }, 'tools'],
    [{ url: 'https://user:word@a.example/' }, 'must be a URL of http or https, without a user or password'],
    [{ url: 'file:///etc/passwd' }, 'must be a URL of http or https, without a user or password'],
    [{ url: 'https://a.example/', token: 'not a name' }, 'must be the name of a variable of the environment'],
    [{ url: 'https://a.example/', later: 'never' }, 'later'],
  ])('%j are refused', (options, message) => {
    expect(() => parseMcpOptions(options)).toThrow(message);
    if ('url' in options) expect(() => parseA2aOptions(options)).toThrow(message);
  });

  test('name variables, which have to be set', () => {
    expect(readVariable('KEY', { KEY: 'secret' }, 'mcp')).toBe('secret');
    for (const environment of [{}, { KEY: '' }, { KEY: undefined }])
      expect(() => readVariable('KEY', environment, 'mcp')).toThrow(
        'mcp: the team file names the variable KEY, which is not set',
      );
  });
});

describe('the needs of a foreign tool', () => {
  test.each<[options: JsonObject, needs: object]>([
    [{ url: 'https://a.example/' }, { network: true, environment: [] }],
    [
      { url: 'https://a.example/', token: 'KEY' },
      { network: true, environment: ['KEY'] },
    ],
    [{ command: 'node' }, { childProcesses: true, environment: [] }],
    [
      { command: 'node', network: false },
      { childProcesses: true, environment: [] },
    ],
    [
      { command: 'node', network: true, env: ['A', 7, 'B'], token: 'KEY' },
      { childProcesses: true, network: true, environment: ['A', 'B', 'KEY'] },
    ],
    [
      { command: 'node', env: 'A' },
      { childProcesses: true, environment: [] },
    ],
  ])('with %j are %j', (options, needs) => {
    expect(describeToolNeeds('mcp', options)).toEqual(needs);
  });

  test('of an agent of A2A are the network and its token', () => {
    expect(describeToolNeeds('a2a', { url: 'https://a.example/', token: 'KEY' })).toEqual({
      network: true,
      environment: ['KEY'],
    });
    expect(describeToolNeeds('a2a', { token: 7 })).toEqual({ network: true, environment: [] });
  });

  test('are models that nobody sees, unless the user knows that there are none', () => {
    expect(['mcp', 'a2a', 'search', ''].map(isForeign)).toEqual([true, true, false, false]);
    expect([isUnseen('mcp'), isUnseen('a2a', { asks_models: true })]).toEqual([true, true]);
    expect([isUnseen('mcp', { asks_models: false }), isUnseen('search')]).toEqual([false, false]);
  });
});

describe('the tools that a role is offered', () => {
  /** The work of a role whose partners reply with these. */
  function useWork(replies: Readonly<Record<string, object>>, partners: readonly Partner[]) {
    const notes: string[] = [];
    const asked: string[] = [];
    const work = {
      context: { partners },
      async askPartner({ id }: Partner, input: JsonObject) {
        asked.push(`${id} ${JSON.stringify(input)}`);
        return replies[id];
      },
      note: (text: string) => notes.push(text),
    } as unknown as RoleWork;
    return { work, notes, asked };
  }
  const offer = (
    tools: readonly object[],
    deferred: readonly string[] = [],
    refused: readonly string[] = [],
  ) => ({
    text: '',
    data: { tools, deferred, refused },
  });
  const parameters = { type: 'object' };
  const read = { name: 'read', description: 'Reads', parameters };

  test('are those of its foreign partners, by the names of both', async () => {
    const partners = [
      { id: '1', tool: 'search' },
      { id: '2', tool: 'mcp' },
      { id: '3', tool: 'a2a' },
    ];
    const { work, notes, asked } = useWork({ 2: offer([read]), 3: offer([read]) }, partners);
    const offered = await OfferedTools.ask(work);
    expect(asked).toEqual(['2 {}', '3 {}']);
    expect(offered.definitions).toEqual([
      { name: '2_read', description: 'Reads', parameters },
      { name: '3_read', description: 'Reads', parameters },
    ]);
    expect(offered.find('3_read')?.partner).toBe(partners[2]);
    expect(offered.find('2_read')?.toArguments({ a: 1 })).toEqual({ tool: 'read', arguments: { a: 1 } });
    expect(offered.find('read')).toBeUndefined();
    expect(notes).toEqual([]);
    expect(await OfferedTools.toPlan(work)).toEqual({
      offered: [
        { name: '2_read', description: 'Reads' },
        { name: '3_read', description: 'Reads' },
      ],
    });
  });

  test('have names that models take, each once', async () => {
    const long = 'x'.repeat(80);
    const names = ['a.b/c', 'a_b_c', 'a-b', long, `${long}y`, `${long}z`];
    const { work } = useWork({ p: offer(names.map((name) => ({ ...read, name }))) }, [
      { id: 'p', tool: 'mcp' },
    ]);
    const offered = await OfferedTools.ask(work);
    expect(offered.definitions.map(({ name }) => name)).toEqual([
      'p_a_b_c',
      'p_a_b_c_2',
      'p_a-b',
      `p_${'x'.repeat(62)}`,
      `p_${'x'.repeat(58)}_2`,
      `p_${'x'.repeat(58)}_3`,
    ]);
    expect(offered.find('p_a_b_c_2')?.toArguments({})).toEqual({ tool: 'a_b_c', arguments: {} });
  });

  test('have one for those that are named only', async () => {
    const { work } = useWork({ p: offer([read], ['write', 'list']) }, [{ id: 'p', tool: 'mcp' }]);
    const offered = await OfferedTools.ask(work);
    expect(offered.definitions[1]).toEqual({
      name: 'p_more',
      description: 'More tools of p, by name. Without arguments it says what the tool takes.',
      parameters: {
        type: 'object',
        properties: { tool: { type: 'string', enum: ['write', 'list'] }, arguments: { type: 'object' } },
        required: ['tool'],
      },
    });
    expect(offered.find('p_more')?.toArguments({ tool: 'list' })).toEqual({ tool: 'list' });
  });

  test('are none of a partner that fails or sends no offer, which the trace says', async () => {
    const partners = ['a', 'b', 'c', 'd'].map((id) => ({ id, tool: 'mcp' }));
    const { work, notes } = useWork(
      {
        a: { error: { code: 'tool', message: 'no session' } },
        b: { text: 'hello' },
        c: offer([{ ...read, parameters: [] }]),
        d: offer([], [], ['x: no schema', 'y: twice']),
      },
      partners,
    );
    expect((await OfferedTools.ask(work)).definitions).toEqual([]);
    expect(notes).toEqual([
      'a offers no tools: no session',
      'b sent an invalid list of tools',
      'c sent an invalid list of tools',
      'd has tools that are not offered: x: no schema; y: twice',
    ]);
    expect(await OfferedTools.toPlan(work)).toEqual({});
  });
});
