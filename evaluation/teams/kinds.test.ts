import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type { ModelServerRequest, ScriptedReply } from '@gaia-mesh/tools/fixtures/model-server.ts';
import { loadPrompt } from '@gaia-mesh/tools/prompts.ts';
import { finalOf } from '@gaia-mesh/tools/roles/testing/final-payload.ts';
import { says, startRoleModel, textOf } from '@gaia-mesh/tools/roles/testing/role-model.ts';
import { startTeamMesh } from '@gaia-mesh/tools/roles/testing/team-mesh.ts';
import { expect, test } from 'vitest';
import { loadTeam } from './load-team.ts';
import { storeFile } from './overseer/testing/overseer.ts';
import { toolServices } from './tool-services.ts';

/**
 * Kinds of files and links, with the tools that answer a question about one: a role needs all tools of one of the sets. Archives
 * and files of an unknown kind may hold anything.
 */
const KINDS: Readonly<
  Record<string, { readonly file?: string; readonly link?: string; readonly by: string[][] }>
> = {
  text: { file: 'letter.txt', by: [['read_file']] },
  data: { file: 'list.json', by: [['read_file']] },
  program: { file: 'script.py', by: [['read_file', 'execute_python_file']] },
  workbook: { file: 'SALES.XLSX', by: [['read_file', 'query_table']] },
  pdf: { file: 'paper.pdf', by: [['read_file']] },
  document: { file: 'memo.docx', by: [['read_file']] },
  slides: { file: 'talk.pptx', by: [['read_file']] },
  picture: { file: 'board.png', by: [['analyze_image']] },
  recording: { file: 'speech.mp3', by: [['understand_audio']] },
  archive: { file: 'all.zip', by: [['read_file', 'query_table', 'analyze_image', 'understand_audio']] },
  unknown: { file: 'thing.xyz', by: [['read_file']] },
  page: { link: 'https://example.org/birds', by: [['fetch_page']] },
  paper: { link: 'https://arxiv.org/abs/2311.12983', by: [['fetch_page']] },
  video: {
    link: 'https://www.youtube.com/watch?v=dQw4w9WgXcQ',
    by: [['understand_video'], ['analyze_youtube_video']],
  },
  'linked file': {
    link: 'https://example.org/birds.xlsx',
    by: [['download_file', 'read_file', 'analyze_image', 'understand_audio']],
  },
};

/** Returns the tools that the kind of a request's question needs, if all of one set are among `names`. */
function findTools(request: ModelServerRequest, names: readonly string[]): readonly string[] | undefined {
  const kind = /\(kind: ([\w ]+)\)/.exec(textOf(request))?.[1] ?? '';
  return KINDS[kind]?.by.find((set) => set.every((tool) => names.includes(tool)));
}

const offered = (request: ModelServerRequest) =>
  findTools(
    request,
    request.tools.map(({ name }) => name),
  );
const answer = (isSeen: boolean) => says(`FINAL ANSWER: ${isSeen ? 'seen' : 'unknown'}`);
const work = (request: ModelServerRequest) => answer(offered(request) !== undefined);

/** Plans the first tool that the kind needs if the prompt lists it, and forgets that information is needed. */
function plan(request: ModelServerRequest): ScriptedReply {
  const listed = [...textOf(request).matchAll(/^- (\w+): /gm)].map(([, name = '']) => name);
  const [tool = ''] = findTools(request, listed) ?? [];
  const steps = [{ task: 'look', tool, needs_information: false, uses: [] }];
  const rest = { question_type: 'any', sub_problems: ['it'], strategy: 'look', needs_information: false };
  return { content: { ...rest, steps } satisfies JsonObject };
}

test.each(['supervisor', 'react', 'overseer', 'panel'])(
  '%s has a role with the tools for every kind of file and link, and the question comes to it',
  async (name) => {
    const model = await startRoleModel({
      route: [{ content: { type: 'web' } }],
      ...{ web: work, code: work, file: work, math: work, react: work, execute: work, plan },
      research: (request) => ({
        content: {
          facts: [offered(request) === undefined ? { fact: 'it', found: false } : { fact: 'it was seen' }],
        },
      }),
      expert: (request) => answer(offered(request) !== undefined || textOf(request).includes('it was seen')),
      critique: [{ content: { quality: 9, relevance: 9, missing: [], weaknesses: [], suggestions: [] } }],
      finalize: (request) => answer(textOf(request).includes('FINAL ANSWER: seen')),
      diagnose: [{ content: { point: 'plan', tool: '', diagnosis: 'no tool' } }],
      abstract: [{ content: { kind: 'planning_hint', pattern: 'p', cause: 'c', advice: 'a' } }],
    });
    const truths = Object.keys(KINDS).map((task_id) => ({
      ...{ task_id, question_id: task_id, cycle: 1, level: null, answers: ['seen'] },
    }));
    const team = loadTeam(name);
    const isOverseer = name === 'overseer';
    const mesh = await startTeamMesh({
      agents: team.agents.map(({ id, tool, may_call = [], options = {} }) => ({
        id,
        tool,
        may_call,
        options,
      })),
      entry: team.final,
      modelUrl: model.url,
      prompts: loadPrompt,
      services: toolServices,
      ...(isOverseer && {
        store: storeFile(),
        workspaceFiles: [
          {
            agent: 'runner',
            name: 'truths.jsonl',
            text: truths.map((line) => JSON.stringify(line)).join('\n'),
          },
        ],
      }),
    });

    const answers: Record<string, string> = {};
    for (const [kind, { file, link = 'the file' }] of Object.entries(KINDS)) {
      const question = `Which bird is in ${link}? (kind: ${kind})`;
      const payload = file === undefined ? { question } : { question, file_name: file };
      answers[kind] = String(finalOf(await mesh.ask(payload, kind)).answer);
    }

    expect(answers).toEqual(Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, 'seen'])));
  },
);
