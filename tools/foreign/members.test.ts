import { DOC_INIT, type JsonObject, type Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { describe, expect, test, vi } from 'vitest';
import type { DataToolContext } from '../data-tool.ts';
import type { ToolServices } from '../tool-services.ts';
import { createA2aTool } from './a2a.ts';
import type { ForeignPeer, ForeignReply } from './foreign.ts';
import { createMcpTool } from './mcp.ts';

const schema = { type: 'object' };

/** A peer with the tool `ask`, which replies with this. */
function createPeer(reply: Partial<ForeignReply> | Error = {}) {
  const call = vi.fn(async () => {
    if (reply instanceof Error) throw reply;
    return { texts: [], images: [], isError: false, lost: [], ...reply };
  });
  const tools = [{ name: 'ask', description: 'Asks', inputSchema: schema }];
  const peer: ForeignPeer = { name: 'peer', tools, refused: [], call, close: async () => undefined };
  return { peer, call };
}

const { signal } = new AbortController();

describe('the tool of an MCP server', () => {
  /** Connects with these options in this environment, and returns where it connected to. */
  async function connect(options: JsonObject, environment: DataToolContext['environment'] = {}) {
    const connectMcp = vi.fn<ToolServices['connectMcp']>(async () => createPeer().peer);
    const tool = createMcpTool({ connectMcp });
    expect(tool).toMatchObject({ name: 'mcp', description: expect.stringContaining('a server of MCP') });
    const workspace = '/runs/workspaces/1';
    const place = { workspace, files: undefined, store: undefined };
    await tool.run({}, { ...place, environment, options, taskId: 't', signal });
    expect(connectMcp).toHaveBeenCalledExactlyOnceWith(expect.anything(), signal);
    return connectMcp.mock.calls[0]?.[0];
  }

  test('starts a program in the workspace with the plain variables and those that the team names', async () => {
    const plain = {
      PATH: '/bin',
      HOME: '/home',
      USER: 'a',
      LANG: 'C',
      LANGUAGE: 'en',
      LC_ALL: 'C',
      LC_TIME: 'C',
      TZ: 'UTC',
      TMPDIR: '/tmp',
    };
    const others = {
      OTHER_KEY: 'x',
      MY_PATH: 'x',
      PATH_KEY: 'x',
      LC_: 'x',
      SSH_AUTH_SOCK: 's',
      https_proxy: 'p',
    };
    const options = { command: 'node', args: ['server.js'], env: ['KEY'], max_bytes: 2048, start_s: 1.5 };
    expect(await connect(options, { ...plain, ...others, KEY: 'secret', UNSET: undefined })).toStrictEqual({
      command: 'node',
      args: ['server.js'],
      environment: { ...plain, KEY: 'secret' },
      folder: '/runs/workspaces/1',
      maxMessageBytes: 2048,
      startMs: 1500,
    });
    expect(await connect({ command: 'node' }, { HOME: undefined })).toMatchObject({
      args: [],
      environment: {},
      startMs: undefined,
    });
  });

  test('connects to a URL with the token that the team names', async () => {
    const url = 'https://a.example/mcp';
    expect(await connect({ url, token: 'KEY' }, { KEY: 'secret', PATH: '/bin' })).toEqual({
      url,
      token: 'secret',
      maxMessageBytes: 8 * 1024 * 1024,
      startMs: undefined,
    });
    expect(await connect({ url, start_s: 2 })).toMatchObject({ token: undefined, startMs: 2000 });
    await expect(connect({ url, token: 'KEY' })).rejects.toThrow('mcp: the team file names the variable KEY');
    await expect(connect({ command: 'node', env: ['KEY'] })).rejects.toThrow('mcp: the team file names');
  });
});

describe('a member that is an A2A agent', () => {
  const OPTIONS = { url: 'https://a.example/', asks_models: false };

  /** Hands the member a packet, and returns what it emits, where it connected to and what it was asked. */
  async function hand(
    packet: Partial<Packet>,
    reply: Partial<ForeignReply> | Error = { texts: ['Paris'] },
    options: JsonObject = OPTIONS,
  ) {
    const { peer, call } = createPeer(reply);
    const connectA2a = vi.fn<ToolServices['connectA2a']>(async () => peer);
    const tool = createA2aTool({ connectA2a });
    const given = { from: 'hub', id: '1', task_id: 't', token_used: 0, ts: 0, payload: {}, ...packet };
    const context = {
      engine: {
        name: 'none',
        tokenSource: 'embedded',
        perform: () => Promise.reject(new Error('not asked')),
      },
      workspace: temporaryFolder(),
      options,
      partners: [],
      prompt: String,
      signal,
      countTokens: () => undefined,
      record: () => undefined,
    };
    const emitted = await tool.run(given as Packet, context as unknown as Parameters<typeof tool.run>[1]);
    return { emitted, connectA2a, asked: call.mock.calls.at(0) as readonly unknown[] | undefined, tool };
  }
  const task = (payload: JsonObject): Partial<Packet> => ({ type: DOC_INIT, payload });

  test('connects to the agent that the team names, with its token and its way', async () => {
    const own = { ...OPTIONS, token: 'A2A_TEST_KEY', later: 'poll', max_bytes: 2048 };
    vi.stubEnv('A2A_TEST_KEY', 'secret');
    const { connectA2a, tool } = await hand(task({ question: 'Q' }), undefined, own);
    vi.unstubAllEnvs();
    expect(connectA2a.mock.calls).toEqual([
      [{ url: OPTIONS.url, token: 'secret', later: 'poll', maxMessageBytes: 2048 }, signal],
    ]);
    expect(tool).toMatchObject({
      name: 'a2a',
      description: expect.stringContaining('an agent of A2A'),
      accepts: ['a2a.call'],
      emits: ['a2a.result', 'answer'],
    });
    const { connectA2a: usual } = await hand(task({ question: 'Q' }));
    expect(usual.mock.calls[0]?.[0]).toMatchObject({ token: undefined, later: undefined });
    await expect(hand(task({ question: 'Q' }), undefined, own)).rejects.toThrow(
      'a2a: the team file names the variable A2A_TEST_KEY',
    );
  });

  test('hands on the calls of other agents as they are', async () => {
    const { emitted, asked } = await hand({
      type: 'a2a.call',
      payload: { arguments: { tool: 'ask', arguments: { message: 'Hi' } } },
    });
    expect(emitted).toMatchObject([{ type: 'a2a.result', payload: { text: 'Paris' } }]);
    expect(asked?.slice(0, 2)).toEqual(['ask', { message: 'Hi' }]);
  });
});
