import { fullPacket } from '@gaia-mesh/protocols/contract/samples.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { withPair } from '../contract/pair.ts';
import type { Inbox } from '../contract/stack.ts';
import { testStack } from '../testing/stack-contract.ts';
import { a2aJsonRpcBare } from './bare/stacks.ts';
import { a2aGrpcSdk } from './sdk/grpc.ts';
import { a2aJsonRpcSdk, a2aRestSdk } from './sdk/stacks.ts';

const stacks = [a2aJsonRpcBare, a2aJsonRpcSdk, a2aRestSdk, a2aGrpcSdk];

// The SDK's server prints what it refuses, such as following a task that is over.
beforeAll(() => {
  vi.spyOn(console, 'error').mockReturnValue();
});
afterAll(() => {
  vi.restoreAllMocks();
});

const failing: Inbox = async ({ id }) => {
  if (id === 'bad') throw new Error('the disk is full');
  return [];
};

/** The checks in which REST differs from JSON-RPC, which has the same client and server. A release has all checks. */
const OF_REST = /^(packets arrive|work that fails|every byte is|a proxy between)/;
const isRelease = process.env.GAIA_MESH_RELEASE === 'true';

for (const stack of stacks) {
  testStack(stack, stack === a2aRestSdk && !isRelease ? OF_REST : undefined);

  test(`${stack.name} ${stack.implementation}: an answer may be none, or that the work failed`, async () => {
    await withPair(stack, failing, {}, async ({ ask }) => {
      expect(await ask({ ...fullPacket, id: 'good' })).toEqual([]);
      await expect(ask({ ...fullPacket, id: 'bad' })).rejects.toMatchObject({
        code: 'agent',
        message: expect.stringContaining('the disk is full'),
      });
    });
  });
}
