import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { Workspace } from '../../agent/workspace.ts';
import type { ModelExchange } from '../../contracts/engine.ts';
import { EXCHANGES_FILE, hashRequest } from '../../contracts/model-exchange.ts';
import { asRetry } from '../../contracts/prompt-part.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { RunExchanges } from './run-exchanges.ts';

const of = (taskId: string, packetType = 'doc_init') => ({ taskId, role: 'react', packetType });
const DOCUMENT = 'Ida built the bridge over the Orra, and it has stood for eighty years.';

/** Two turns of a conversation: the second sends all of the first again. */
function turns(): readonly [ModelExchange, ModelExchange] {
  const opening = [
    { role: 'system' as const, content: 'You answer questions.' },
    {
      role: 'user' as const,
      content: `Who built it?\n${DOCUMENT}`,
      parts: [
        { kind: 'question' as const, text: 'Who built it?\n' },
        { kind: 'file' as const, text: DOCUMENT },
      ],
    },
  ];
  const call = { id: '1', name: 'search', arguments: { query: 'bridge' } };
  const tools = [{ name: 'search', description: 'Searches', parameters: { type: 'object', properties: {} } }];
  const figures = { key: 'k', model: 'gpt-4o', tools, promptTokens: 100, completionTokens: 10 };
  return [
    { ...figures, messages: opening, reply: { content: '', toolCalls: [call], finish: 'tool_calls' } },
    {
      ...figures,
      messages: [
        ...opening,
        { role: 'assistant', content: '', toolCalls: [call] },
        { role: 'tool', toolCallId: '1', name: 'search', content: 'Nothing.' },
        { role: 'user', ...asRetry('Say it in one word.') },
      ],
      reply: { content: 'Ida', reasoning: 'It says so.', toolCalls: [], finish: 'stop' },
    },
  ];
}

function workspaceIn(folder: string): Workspace {
  return new Workspace(path.join(folder, 'a'), { id: 'a', tool: 'react', engine: 'openai' });
}

test('what each token of a task was is found in what its agent noted, and what was read again', async () => {
  const folder = temporaryFolder();
  const exchanges = new RunExchanges(folder, ['a']);
  const workspace = workspaceIn(folder);
  for (const turn of turns()) workspace.noteExchange(of('t'), turn);

  const ledger = await exchanges.ended('t');

  const prompt = ledger?.prompt ?? [];
  expect(prompt.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(200);
  expect(new Set(prompt.map(({ kind, read }) => `${kind} ${read}`))).toEqual(
    new Set([
      ...['system 1', 'tools 1', 'question 1', 'file 1', 'structure 1', 'residual 1'],
      ...['system 2', 'tools 2', 'question 2', 'file 2', 'history 1', 'tool_result 1', 'retry 1'],
    ]),
  );
  expect(ledger?.completion.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(['answer', 'reasoning', 'tool_calls', 'residual']),
  );
  workspace.close();
});

test('a text is kept once a task, however often it is sent', () => {
  const folder = temporaryFolder();
  const workspace = workspaceIn(folder);
  for (let i = 0; i < 5; i++) for (const turn of turns()) workspace.noteExchange(of('t'), turn);
  workspace.close();
  expect(linesWith(folder, DOCUMENT)).toBe(1);
});

test('what comes after the end of a task is in the total', async () => {
  const folder = temporaryFolder();
  const exchanges = new RunExchanges(folder, ['a']);
  const workspace = workspaceIn(folder);
  const [first, second] = turns();
  workspace.noteExchange(of('t'), first);
  await exchanges.ended('t');
  workspace.noteExchange(of('t', 'search.result'), second);
  workspace.noteExchange(of('other'), first);

  const total = await exchanges.total();

  const sums = total?.prompt.reduce((sum, { tokens }) => sum + tokens, 0) ?? 0;
  // The second turn's texts were noted before the task had ended: it is counted as one that cannot be told apart.
  expect({ sums, uncounted: total?.uncounted }).toEqual({ sums: 200, uncounted: 1 });
  workspace.close();
});

test('lines that are none of ours, and texts that are missing, are not counted as anything else', async () => {
  const folder = temporaryFolder();
  const exchanges = new RunExchanges(folder, ['a']);
  const workspace = workspaceIn(folder);
  workspace.noteExchange(of('t'), turns()[0]);
  const file = path.join(folder, 'a', EXCHANGES_FILE);
  appendFileSync(file, 'no JSON\n{"level":"warn","cut":"the log reached its bound"}\n');
  const line = {
    ...of('t'),
    task_id: 't',
    packet_type: 'x',
    key: 'k',
    model: 'm',
    messages: [{ role: 'user', parts: [['peer', 'nowhere']] }],
  };
  appendFileSync(
    file,
    `${JSON.stringify({ ...line, reply: { content: '', tool_calls: [], finish: 'stop' }, prompt_tokens: 7, completion_tokens: 1 })}\n`,
  );

  const ledger = await exchanges.ended('t');

  expect(ledger?.prompt.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(100);
  expect(ledger?.uncounted).toBe(1);
  workspace.close();
});

test('a request is named by what is asked, not by what is known of its parts', () => {
  const [first, second] = turns();
  const bare = first.messages.map((message) =>
    'parts' in message ? { role: message.role, content: message.content } : message,
  );
  expect(hashRequest({ messages: JSON.parse(JSON.stringify(bare)), tools: first.tools })).toBe(
    hashRequest(first),
  );
  expect(hashRequest(second)).not.toBe(hashRequest(first));
});

function linesWith(folder: string, text: string): number {
  return readFileSync(path.join(folder, 'a', EXCHANGES_FILE), 'utf8')
    .split('\n')
    .filter((line) => line.includes(text)).length;
}
