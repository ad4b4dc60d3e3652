import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { defineOptions } from '@gaia-mesh/cli/command-line/options.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { o200k } from '@gaia-mesh/core/tokens/o200k.ts';
import { defineTable, flag, option, text } from '@gaia-mesh/evaluation/plan/option-table.ts';
import { print, printText } from '@gaia-mesh/evaluation/terminal/print.ts';
import { count, formatTable } from '@gaia-mesh/evaluation/terminal/table.ts';
import {
  type ModelScript,
  type ScriptedReply,
  startModelServer,
} from '@gaia-mesh/tools/fixtures/model-server.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { trackChild, useRunFolder } from './bench-runs.ts';

const run = promisify(execFile);
const TEAMS = ['react', 'supervisor'] as const;
/** Time limit of a run. Answering these few questions takes seconds; a revision that cannot answer them hangs. */
const MAX_RUN_MS = 300_000;

/** One question of the script, with the model's calls, turn by turn, before it answers. */
interface Scripted {
  readonly question: string;
  readonly file?: string;
  readonly calls: readonly { readonly name: string; readonly arguments: Readonly<Record<string, string>> }[];
}

const reason = 'I need to see what it says before I can go on.';
const SCRIPT: readonly Scripted[] = [
  {
    question: 'How many passengers went to Tolmin? (a table)',
    file: 'ferry-tickets.csv',
    calls: [
      { name: 'read_excel', arguments: { file: 'ferry-tickets.csv', reason } },
      { name: 'calculator', arguments: { expression: '3 + 3 + 4', reason } },
    ],
  },
  {
    question: 'Who led the expedition? (a text)',
    file: 'expedition-diary.txt',
    calls: [{ name: 'read_file', arguments: { file: 'expedition-diary.txt', reason } }],
  },
  {
    question: 'What is 17.5 % of 240? (a sum)',
    calls: [{ name: 'calculator', arguments: { expression: '0.175 * 240', reason } }],
  },
];

/** A model with the same replies for all prompts, so that only the prompts differ. */
const model: ModelScript = ({ messages }): ScriptedReply => {
  const asked = messages[1]?.content ?? '';
  if (messages[0]?.content.startsWith('You decide who works') === true) return { content: { type: 'math' } };
  const turn = messages.filter(({ role }) => role === 'assistant').length;
  const call = SCRIPT.find(({ question }) => asked.includes(question))?.calls[turn];
  return call === undefined
    ? { content: 'That is all.\nFINAL ANSWER: 42' }
    : { content: '', toolCalls: [call] };
};

interface PromptCost {
  readonly team: string;
  readonly requests: number;
  /** Tokens of messages and tools as they were sent, by o200k_base; per question. */
  readonly tokens: number;
  readonly bytes: number;
}

async function measureCost(
  tree: string,
  team: string,
  folder: string,
  signal: AbortSignal,
): Promise<PromptCost> {
  const server = await startModelServer(model);
  try {
    const questions = SCRIPT.map(({ question, file }, index) => ({
      task_id: `q${index}`,
      question,
      answer: '42',
      file_name: file,
    }));
    const file = path.join(folder, 'q.jsonl');
    writeFileSync(file, questions.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const environment = {
      ...process.env,
      INIT_CWD: folder,
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: 'of-this-measurement-alone',
    };
    const running = run(
      process.execPath,
      [
        ...[path.join(tree, 'scripts', 'gaia-mesh.js'), 'gaia', '--team', team, '--questions', file],
        ...[
          '--files',
          path.join(codeFolder, 'config', 'samples', 'files'),
          '--out',
          path.join(folder, 'a.jsonl'),
        ],
        // The Anthropic format has no grammars, so that revisions can be measured whose schemas other servers would
        // refuse.
        ...['--engine', 'anthropic', '--model', 'scripted', '--no-cache', '--json'],
      ],
      { cwd: folder, signal, timeout: MAX_RUN_MS, env: environment },
    );
    trackChild(running.child);
    await running;
    const sent = server.requests.map(({ body }) =>
      JSON.stringify([body.system ?? '', body.messages, body.tools ?? []]),
    );
    const sum = (of: (text: string) => number) =>
      sent.reduce((all, text) => all + of(text), 0) / SCRIPT.length;
    return {
      team,
      requests: sent.length,
      tokens: sum((text) => o200k.count(text)),
      bytes: sum(Buffer.byteLength),
    };
  } finally {
    await server.close();
  }
}

/** Checks out a revision's files, with this tree's packages. */
async function checkOutTree(revision: string, folder: string): Promise<string> {
  const tree = path.join(folder, 'tree');
  mkdirSync(tree);
  const archive = path.join(folder, 'tree.tar');
  await run('git', ['archive', '--output', archive, revision], { cwd: codeFolder });
  await run('tar', ['-xf', archive, '-C', tree]);
  symlinkSync(path.join(codeFolder, 'node_modules'), path.join(tree, 'node_modules'));
  return tree;
}

const tokensTable = defineTable({
  options: z.object({
    against: option('<revision>', 'measure another revision of the project beside this one', text.optional()),
    json: flag('print the figures as JSON'),
  }),
});

/**
 * Defines the command that counts the tokens of the prompts of react and supervisor, for the same replies, here and at
 * another revision.
 */
export function definePromptTokens(command: Command): void {
  defineOptions(command, tokensTable, countTokens);
}

async function countTokens({ against, json }: z.output<typeof tokensTable.options>): Promise<void> {
  const measure = async (tree: string, folder: string, signal: AbortSignal) => {
    const costs: PromptCost[] = [];
    for (const team of TEAMS) {
      const own = path.join(folder, team);
      mkdirSync(own);
      costs.push(await measureCost(tree, team, own, signal));
    }
    return costs;
  };
  const now = await useRunFolder((folder, signal) => measure(codeFolder, folder, signal));
  const then =
    against === undefined
      ? []
      : await useRunFolder(async (folder, signal) =>
          measure(await checkOutTree(against, folder), folder, signal),
        );
  const rows = now.map((cost) => {
    const other = then.find(({ team }) => team === cost.team);
    return {
      ...cost,
      against: other ?? null,
      ratio: other === undefined ? null : cost.tokens / other.tokens,
    };
  });
  if (json) {
    print(
      JSON.stringify({
        schema_version: 1,
        questions: SCRIPT.length,
        against: against ?? null,
        teams: rows,
      }),
    );
    return;
  }
  printText(
    `${formatTable([
      [
        'team',
        'requests',
        'prompt tokens a question',
        'bytes',
        ...(against === undefined ? [] : [`at ${against}`, 'ratio']),
      ],
      ...rows.map(({ team, requests, tokens, bytes, against: other, ratio }) => [
        ...[team, count(requests), count(Math.round(tokens)), count(Math.round(bytes))],
        ...(other === null || ratio === null ? [] : [count(Math.round(other.tokens)), ratio.toFixed(2)]),
      ]),
    ])}\n`,
  );
}
