import { describe, expect, test } from 'vitest';
import type { PacketHead } from '../../contracts/packet.ts';
import { quietLink } from '../../testing/quiet-link.ts';
import type { Link } from '../link.ts';
import { type Routing, routerNamed } from '../routing.ts';
import { Copies, chooseCopy } from './copies.ts';

const tasks = (count: number) => Array.from({ length: count }, (_, i) => `task-${i}`);

describe('the choice of a copy', () => {
  const copies = ['2', '2~2', '2~3', '2~4', '2~5'];

  test('spreads tasks evenly', () => {
    const counts = new Map(copies.map((id) => [id, 0]));
    for (const task of tasks(5000)) {
      const id = chooseCopy(task, copies);
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    // 1,000 each; six standard deviations are 170.
    for (const [id, count] of counts) expect(Math.abs(count - 1000), `${id}: ${count}`).toBeLessThan(170);
  });

  test('moves the tasks of a copy that leaves, and no others', () => {
    for (const left of copies) {
      const others = copies.filter((id) => id !== left);
      for (const task of tasks(500)) {
        const before = chooseCopy(task, copies);
        const after = chooseCopy(task, others);
        if (before === left) expect(others).toContain(after);
        else expect(after).toBe(before);
      }
    }
  });

  test('does not depend on the order of the copies', () => {
    for (const task of tasks(100))
      expect(chooseCopy(task, copies.toReversed())).toBe(chooseCopy(task, copies));
  });
});

/** Links of these agents, of which none says anything. */
async function linksOf(...ids: string[]): Promise<Link[]> {
  return Promise.all(ids.map(async (id) => (await quietLink(id, ['doc_init'])).link));
}

async function meshOf(routing: Routing) {
  const links = await linksOf('1', '2', '2~2', '2~3', '3', '3~2');
  const copies = Copies.among(links, chooseCopy);
  const router = copies.around(routerNamed(routing));
  copies.membersChanged(links);
  router.membersChanged(links);
  const [sender] = links;
  const recipients = (task_id: string, to?: string) => {
    const head: PacketHead = { type: 'doc_init', from: '1', id: 'x', task_id, token_used: 0 };
    if (sender === undefined) throw new Error('there are links');
    return router.recipients(to === undefined ? head : { ...head, to }, sender);
  };
  return { links, copies, recipients };
}

const idsOf = (links: readonly Link[]) => links.map(({ node }) => node.id);

describe('a router around copies', () => {
  test.each(['broadcast', 'topic', 'direct'] as const)(
    'gives a packet for all to one copy of each agent: %s',
    async (routing) => {
      const { recipients } = await meshOf(routing);
      for (const task of tasks(50)) {
        const expected = [chooseCopy(task, ['2', '2~2', '2~3']), chooseCopy(task, ['3', '3~2'])];
        expect(idsOf(recipients(task))).toEqual(expected);
      }
    },
  );

  test('keeps the identity of lists from packet to packet, and from task to task with the same copies', async () => {
    const { recipients } = await meshOf('broadcast');
    const lists = new Map<string, readonly Link[]>();
    for (const task of tasks(200)) {
      const list = recipients(task);
      expect(recipients(task)).toBe(list);
      const key = idsOf(list).join();
      expect(lists.get(key) ?? list).toBe(list);
      lists.set(key, list);
    }
    expect(lists.size).toBe(6);
  });

  test('sends what is addressed to an agent to the copy that has the task', async () => {
    const { recipients } = await meshOf('direct');
    for (const task of tasks(50)) {
      const list = recipients(task, '2');
      expect(idsOf(list)).toEqual([chooseCopy(task, ['2', '2~2', '2~3'])]);
      expect(recipients(task, '2')).toBe(list);
      // Whoever answers says which copy had asked.
      expect(recipients(task, list[0]?.node.id)).toBe(list);
    }
    expect(idsOf(recipients('a task', '1'))).toEqual(['1']);
    expect(idsOf(recipients('a task', 'nobody'))).toEqual([]);
  });

  test('changes nothing where no agent has copies', async () => {
    const links = await linksOf('1', '2', 'two');
    const copies = Copies.among(links, chooseCopy);
    const router = routerNamed('broadcast');
    expect(copies.around(router)).toBe(router);
    expect(copies.only(links, 'a task')).toBe(links);
  });
});

describe('an open task', () => {
  const had = (copies: Copies, links: readonly Link[], task: string) =>
    idsOf(copies.only(links, task)).find((id) => id.startsWith('2'));

  test('keeps its copies when others come back, and goes to another when its own is gone', async () => {
    const { links, copies } = await meshOf('broadcast');
    const task = tasks(50).find((id) => chooseCopy(id, ['2', '2~2', '2~3']) === '2~2') ?? '';
    const without = links.filter(({ node }) => node.id !== '2~2');
    copies.membersChanged(without);
    copies.begin(task);
    const first = had(copies, links, task);
    expect(first).toBe(chooseCopy(task, ['2', '2~3']));
    copies.membersChanged(links);
    expect(had(copies, links, task)).toBe(first);

    const gone = links.find(({ node }) => node.id === first);
    if (gone === undefined) throw new Error('it was there');
    copies.membersChanged(links.filter((link) => link !== gone));
    expect(copies.handOn(gone, () => true)).toEqual([task]);
    expect(had(copies, links, task)).toBe('2~2');
    // What the lost one was sent is known to nobody: no answer comes by way of the others.
    expect(links.filter((link) => copies.canWork(link, task)).map(({ node }) => node.id)).toEqual(
      expect.not.arrayContaining(['2', '2~2', '2~3']),
    );
    expect(copies.concerns(gone, task)).toBe(true);
    copies.end(task);
    expect(copies.concerns(gone, task)).toBe(false);
  });

  test('stays with the last copy that there was', async () => {
    const { links, copies } = await meshOf('broadcast');
    const twos = links.filter(({ node }) => node.id.startsWith('2'));
    const others = links.filter((link) => !twos.includes(link));
    copies.begin('a task');
    copies.membersChanged(others);
    for (const link of twos) expect(copies.handOn(link, () => true)).toBeUndefined();
    expect(had(copies, links, 'a task')).toBe(chooseCopy('a task', ['2', '2~2', '2~3']));
  });
});
