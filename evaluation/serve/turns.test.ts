import { describe, expect, it } from 'vitest';
import { Turns } from './turns.ts';

const { signal } = new AbortController();

/** Takes turns by name and notes who has got one. */
function startTurns(limits: { tasks: number; waiting: number }) {
  const turns = new Turns(limits);
  const ends = new Map<string, () => void>();
  const take = async (name: string, own = signal) => {
    ends.set(name, await turns.take(own));
  };
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    turns,
    take,
    running: async () => {
      await settle();
      return [...ends.keys()];
    },
    end: (name: string) => {
      ends.get(name)?.();
      ends.delete(name);
    },
  };
}

describe('turns of tasks', () => {
  it('are so many at once; more wait, and one more is refused', async () => {
    const { take, running } = startTurns({ tasks: 2, waiting: 1 });
    void take('a');
    void take('b');
    void take('c');
    await expect(take('d')).rejects.toThrow('2 tasks are running and 1 are waiting');
    expect(await running()).toEqual(['a', 'b']);
  });

  it.each(['c'])('of others stay what they are when %s gives up while it waits', async (gone) => {
    const { take, running, end } = startTurns({ tasks: 1, waiting: 3 });
    const abort = new AbortController();
    const left = expect(
      take('a').then(() =>
        Promise.all([...'bcd'].map((name) => take(name, name === gone ? abort.signal : signal))),
      ),
    ).rejects.toThrow('cancelled while it waited');
    await running();
    abort.abort();
    await left;
    const seen = [];
    for (const name of [...'abcd'].filter((each) => each !== gone)) {
      seen.push(...(await running()));
      end(name);
    }
    expect(seen).toEqual([...'abcd'].filter((each) => each !== gone));
  });

  it('have settled once none runs and none waits', async () => {
    const { turns, take, running, end } = startTurns({ tasks: 1, waiting: 1 });
    await turns.settled();
    void take('a');
    void take('b');
    await running();
    let isSettled = false;
    const settled = turns.settled().then(() => {
      isSettled = true;
    });
    end('a');
    await running();
    expect(isSettled).toBe(false);
    end('b');
    await settled;
  });
});
