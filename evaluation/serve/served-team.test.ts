import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { MeshTeam } from '../batch/teams/mesh-team.ts';
import { attemptOf } from '../batch/testing/results.ts';
import { ServedTeam } from './served-team.ts';

const { signal } = new AbortController();
const ignore = () => undefined;

type Options = Parameters<typeof ServedTeam.start>[0] & Parameters<typeof ServedTeam.start>[1];
type MeshAsk = MeshTeam['ask'];

/** The attempt of a team that answers every question with `Yes`. */
const answerYes: MeshAsk = async ({ taskId }) => attemptOf(taskId, { raw_answer: 'Yes' });

afterEach(() => void vi.restoreAllMocks());

/** Starts a served team on a mesh whose agents are left out. */
async function start(options: Partial<Options> = {}, answer = answerYes, resultsFile = 'results.jsonl') {
  const ask = vi.fn(answer);
  const close = vi.fn(async () => ({ tasks: 1 }));
  const folder = { archiveFile: '/x/archive', resultsFile: path.join(temporaryFolder(), resultsFile) };
  const mesh = { ask, folder, close };
  const started = vi.spyOn(MeshTeam, 'start').mockResolvedValue(mesh as unknown as MeshTeam);
  const plan = {
    planned: { team: { name: 'team' }, adapter: {}, faults: [], out: '/x' },
    mesh: { paths: { store: '/x/store' }, portBase: 1 },
    limits: { tasks: 1, waiting: 1, bytes: 10 },
    ...options,
  } as unknown as Options;
  const starting = ServedTeam.start(plan, { observer: {}, signal, ...options });
  const served = await starting.catch((error: unknown) => {
    expect(close, 'its agents are left running').toHaveBeenCalledOnce();
    throw error;
  });
  const { observer } = started.mock.calls[0]?.[2] ?? {};
  const relay = (taskId: string, from: string, type: string) =>
    observer?.relayed?.({ packets: [{ head: { task_id: taskId, from, type } }] } as never);
  return { served, ask, started, relay, resultsFile: folder.resultsFile };
}

describe('a served team', () => {
  it('asks its agents each question as a task of its own, and gives the answer', async () => {
    const { served, ask, resultsFile, relay } = await start();
    // The observer of this run follows no packets.
    relay('ask-1', '0', 'a');
    expect(served.name).toBe('team');
    expect(await served.ask({ question: 'Q' }, signal, ignore)).toMatchObject({
      answer: 'Yes',
      task_id: 'ask-1',
    });
    expect(await served.ask({ question: 'R' }, signal, ignore)).toMatchObject({ task_id: 'ask-2' });
    expect(ask.mock.calls[0]).toStrictEqual([
      { question: 'Q', category: 'text', truths: [], taskId: 'ask-1' },
      1,
      signal,
    ]);
    expect(served.archiveFile).toBe('/x/archive');
    expect(await served.close()).toEqual({ tasks: 1 });
    // They are on the disk, in the order of their ends.
    const results = readFileSync(resultsFile, 'utf8').trimEnd().split('\n');
    expect(results.map((line) => JSON.parse(line).task_id)).toEqual(['ask-1', 'ask-2']);
  });

  it('takes question and document up to its bytes, to the byte, and a document of its own besides', async () => {
    const { served, ask } = await start({ document: 'of its own, and longer' });
    await served.ask({ question: 'ééé', document: 'abcd' }, signal, ignore);
    await served.ask({ question: 'ééééé' }, signal, ignore);
    await expect(served.ask({ question: 'ééé', document: 'abcde' }, signal, ignore)).rejects.toThrow(
      expect.objectContaining({
        code: 'limit',
        message: 'question and document: expected at most 10 bytes, came 11',
      } satisfies Partial<MeshError>),
    );
    expect(ask).toHaveBeenCalledTimes(2);
  });

  it('leaves no agents running if its results cannot be written', async () => {
    await expect(start({}, answerYes, '')).rejects.toThrow(/cannot be written: it is a folder/);
  });

  it('is settled when no task is running any more', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { served } = await start({}, async (...asked) => {
      await promise;
      return answerYes(...asked);
    });
    const asked = served.ask({ question: 'Q' }, signal, ignore);
    const ends: string[] = [];
    const settled = served.settled().then(() => ends.push('settled'));
    await setImmediate();
    expect(ends).toEqual([]);
    resolve();
    await Promise.all([asked, settled]);
    expect(ends).toEqual(['settled']);
  });

  it('hands on a document, or the one that it has, and no half of a letter', async () => {
    const { served, ask } = await start({ document: 'own' });
    await served.ask({ question: 'Q\ud800' }, signal, ignore);
    await served.ask({ question: 'Q', document: 'mine' }, signal, ignore);
    expect(ask.mock.calls.map(([{ question, document }]) => [question, document])).toEqual([
      ['Q\ufffd', 'own'],
      ['Q', 'mine'],
    ]);
  });

  it('gives the turn on when a task has failed', async () => {
    const { served } = await start({}, async (asked, ...rest) => {
      if (asked.question === 'bad') throw new Error('broken');
      return answerYes(asked, ...rest);
    });
    const bad = expect(served.ask({ question: 'bad' }, signal, ignore)).rejects.toThrow('broken');
    const good = served.ask({ question: 'good' }, signal, ignore);
    await bad;
    expect(await good).toMatchObject({ answer: 'Yes' });
    await served.settled();
  });

  it('asks nothing for a client that has gone, or once the run has ended', async () => {
    const ended = new AbortController();
    const { served, ask } = await start({ signal: ended.signal });
    await expect(served.ask({ question: 'Q' }, AbortSignal.abort(new Error('gone')), ignore)).rejects.toThrow(
      'gone',
    );
    ended.abort(new Error('ended'));
    await expect(served.ask({ question: 'Q' }, signal, ignore)).rejects.toThrow('ended');
    expect(ask).not.toHaveBeenCalled();
  });

  it('ends the waiting when the run ends', async () => {
    const ended = new AbortController();
    const { served } = await start({ signal: ended.signal }, () => new Promise(() => undefined));
    void served.ask({ question: 'A' }, signal, ignore);
    const waiting = served.ask({ question: 'B' }, signal, ignore);
    ended.abort();
    await expect(waiting).rejects.toThrow(
      expect.objectContaining({ code: 'interrupted' } satisfies Partial<MeshError>),
    );
  });

  it('reports the packets of the task alone, counted, and not each of a thousand', async () => {
    vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
    let nowMs = 0;
    const told: unknown[] = [];
    const observed = vi.fn();
    const { served, relay } = await start({ observer: { relayed: observed } }, (...asked) => {
      relay('ask-1', '0', 'a');
      relay('ask-2', '0', 'of another');
      nowMs = 49;
      relay('ask-1', '1', 'b');
      nowMs = 50;
      relay('ask-1', '2', 'c');
      return answerYes(...asked);
    });
    await served.ask({ question: 'Q' }, signal, (...progress) => told.push(progress));
    nowMs = 1000;
    relay('ask-1', '3', 'late');
    expect(told).toEqual([
      ['agent 0 sent a (packet 1)', 1],
      ['agent 2 sent c (packet 3)', 3],
    ]);
    expect(observed).toHaveBeenCalledTimes(5);
  });
});
