import { describe, expect, test } from 'vitest';
import { DOC_INIT } from '../../contracts/packet.ts';
import { callType, resultType, type Tool } from '../../contracts/tool.ts';
import { runLedger } from '../../run/metrics/run-ledger.ts';
import { type MeshOptions, startMesh, toolOf } from '../../testing/mesh.ts';
import { onPackets } from '../../testing/packet-observer.ts';
import { chooseCopy } from './copies.ts';

/** A task that the copy `id` of agent 1 gets. */
function taskOf(id: string, name = 'task'): string {
  for (let i = 0; ; i++) if (chooseCopy(`${name}-${i}`, ['1', '1~2']) === id) return `${name}-${i}`;
}

const IDS = ['0', '1', '1~2', '3'];
const direct: MeshOptions = { ids: IDS, routing: 'direct', mayCall: { 0: [], 1: [], 2: [], 3: ['1'] } };
const idle = toolOf('nothing', 'nothing', async () => []);

/** A tool that is asked; the first call of each is told to `onCall`, and waits for it. */
function asked(onCall: (tool: string) => Promise<void>): Tool {
  return toolOf(callType('work'), resultType('work'), async (packet) => {
    await onCall(packet.id);
    return [{ type: resultType('work'), to: packet.from, reply_to: packet.id, payload: { n: 1 } }];
  });
}

const named = (tool: Tool, name: string): Tool => ({ ...tool, name });

describe('copies of an agent that is asked', () => {
  test('get all requests of one task, and their replies count', async () => {
    const relayed: string[] = [];
    const work = named(
      asked(async () => undefined),
      'work',
    );
    const asking = toolOf(DOC_INIT, 'answer', async (_packet, { ask }) => {
      for (let i = 0; i < 3; i++) await ask('1', {});
      return [{ type: 'answer', tag: 'final_answer', payload: { answer: 'done' } }];
    });
    const { ask, network } = await startMesh([idle, work, work, asking], {
      ...direct,
      observer: onPackets(({ head }) => relayed.push(`${head.task_id} ${head.from}>${head.to ?? '*'}`)),
    });
    for (const id of ['1', '1~2']) {
      const task = taskOf(id);
      relayed.length = 0;
      expect(await ask(task)).toMatchObject({ status: 'answered', answer: 'done' });
      const pair = [`${task} 3>1`, `${task} ${id}>3`];
      expect(relayed).toEqual([...pair, ...pair, ...pair, `${task} 3>*`]);
    }
    await network.settle();
    expect(runLedger(network)).toMatchObject({ balanced: true });
  });

  test('are replaced when they go: who waits is told at once, and asks another one', async () => {
    const called = Promise.withResolvers<void>();
    const never = new Promise<void>(() => undefined);
    let calls = 0;
    const work = named(
      asked(async () => {
        calls += 1;
        if (calls > 1) return;
        called.resolve();
        await never;
      }),
      'work',
    );
    const said: string[] = [];
    const asking = toolOf(DOC_INIT, 'answer', async (_packet, { ask }) => {
      await ask('1', {}).catch((error: Error) => said.push(error.message));
      const { n } = await ask('1', {});
      return [{ type: 'answer', tag: 'final_answer', payload: { answer: Number(n) } }];
    });
    const { ask, agents } = await startMesh([idle, work, work, asking], direct);
    const task = ask(taskOf('1'));
    await called.promise;
    await agents[1]?.stop();

    expect(await task).toMatchObject({ status: 'answered', answer: '1' });
    expect(said).toEqual(['agent 1 is gone']);
  });
});

describe('copies in a row of agents', () => {
  /** `0` → copies of `1` → `3`; what a copy does with its work is said by `onWork`. */
  const row = (onWork: (taskId: string) => Promise<void>, onFirst?: (taskId: string) => Promise<void>) => {
    const work = toolOf('a', 'b', async ({ task_id }) => {
      await onWork(task_id);
      return [{ type: 'b', payload: {} }];
    });
    const first = toolOf(DOC_INIT, 'a', async ({ task_id }) => {
      await onFirst?.(task_id);
      return [{ type: 'a', payload: {} }];
    });
    const last = toolOf('b', 'answer', async () => [
      { type: 'answer', tag: 'final_answer', payload: { answer: 'done' } },
    ]);
    return [first, work, work, last];
  };

  test('die by name: what they had been sent ends at once, other tasks go on', async () => {
    const begun = Promise.withResolvers<void>();
    const free = Promise.withResolvers<void>();
    // Both tasks are of the copy that dies: one it works on, of the other it has heard nothing to work on.
    const working = taskOf('1~2', 'working');
    const late = taskOf('1~2', 'late');
    const tools = row(
      async (taskId) => {
        if (taskId !== working) return;
        begun.resolve();
        await new Promise(() => undefined);
      },
      async (taskId) => {
        if (taskId === late) await free.promise;
      },
    );
    const { ask, agents } = await startMesh(tools, { ids: IDS });
    const [ended, goesOn] = [ask(working), ask(late)];
    await begun.promise;
    await agents[2]?.stop();

    expect(await ended).toMatchObject({
      status: 'failed',
      reason: 'agent 1~2 (a-to-b) is gone, so no answer can come',
    });
    free.resolve();
    expect(await goesOn).toMatchObject({ status: 'answered' });
    expect(await ask(taskOf('1~2', 'later'))).toMatchObject({ status: 'answered' });
  });

  test('may be the final agent, and only they may', async () => {
    const answer = toolOf(DOC_INIT, 'answer', async () => [
      { type: 'answer', tag: 'final_answer', payload: { answer: 'mine' } },
    ]);
    const { ask } = await startMesh([idle, answer, answer], { ids: ['0', '1', '1~2'] });
    for (const id of ['1', '1~2']) expect(await ask(taskOf(id))).toMatchObject({ answer: 'mine' });
  });

  test('have the rights of their agent, and no more', async () => {
    const refused: string[] = [];
    const stray = toolOf(DOC_INIT, 'stray', async () => [{ type: 'stray', to: '0', payload: {} }]);
    const { ask } = await startMesh([idle, stray, stray], {
      ...{ ids: ['0', '1', '1~2'], mayCall: { 0: [], 1: [], 2: [] } },
      observer: { refused: (node, reason) => refused.push(`${node}: ${reason}`) },
    });
    expect(await ask(taskOf('1~2'), {}, 500)).toMatchObject({ status: 'timeout' });
    // The packet may come after the deadline on a busy machine: the hub refuses it all the same.
    await expect.poll(() => refused).toEqual(['1~2: 1~2 may not call 0 (may_call of the team file)']);
  });
});
