import type { Team } from '@gaia-mesh/core/contracts/team.ts';
import { dataTools } from '@gaia-mesh/tools/data-tools.ts';
import { loadPrompt } from '@gaia-mesh/tools/prompts.ts';
import { startTeamMesh } from '@gaia-mesh/tools/roles/testing/team-mesh.ts';
import { buildToolDefinitions } from '@gaia-mesh/tools/tool-definitions.ts';
import { describe, expect, test } from 'vitest';
import { listTeamFiles, loadTeam } from './load-team.ts';

const NAMES = ['supervisor', 'react', 'overseer', 'panel', 'single'] as const;
const load = (name: string) => loadTeam(name);

const isDataTool = (tool: string) => Object.hasOwn(dataTools, tool);

/** Names of the data tools that an agent may call, by the ids of the team. */
function toolsOf(team: Team, id: string): string[] {
  const agent = team.agents.find((candidate) => candidate.id === id);
  return (agent?.may_call ?? [])
    .map((partner) => team.agents.find((candidate) => candidate.id === partner)?.tool ?? '')
    .filter(isDataTool);
}

function callsOf(team: Team, id: string): readonly string[] {
  return team.agents.find((agent) => agent.id === id)?.may_call ?? ['no such agent'];
}

const rolesOf = (team: Team) => team.agents.filter(({ tool }) => !isDataTool(tool)).map(({ id }) => id);

/** Matches the tools that look things up outside of the question and its file. */
const WEB = /search|wikipedia|youtube|fetch_page|download_file|understand_video/;

describe('each team that ships', () => {
  test('is found by its name: five architectures and the pipeline', () => {
    expect([...listTeamFiles().keys()].sort()).toEqual([...NAMES, 'pipeline'].sort());
  });

  test.each(NAMES)('%s gives each agent one tool, and says who may call whom (MP-03, MP-74)', (name) => {
    const team = load(name);

    expect(new Set(team.agents.map(({ id }) => id)).size).toBe(team.agents.length);
    for (const { tool, may_call } of team.agents) {
      expect(typeof tool).toBe('string');
      // Without a list, an agent could call all others.
      expect(may_call).toBeDefined();
      if (isDataTool(tool)) expect(may_call).toEqual([]);
    }
  });

  test.each(NAMES)('%s has an entry that is its final agent, and scores as the benchmark does', (name) => {
    const { entry, final, scorer, routing, agents } = load(name);

    expect(entry).toBe(final);
    expect(scorer).toBe('gaia');
    // The hub delivers an addressed packet only to its recipient (C-04).
    if (agents.length > 1) expect(routing).toBe('direct');
  });

  test.each(NAMES)('%s has every role’s reason where it is not a specialist’s (OV-46)', (name) => {
    const team = load(name);
    const silent = team.agents.filter(
      ({ tool, reason }) => !isDataTool(tool) && tool !== 'answer' && reason === undefined,
    );

    expect(silent).toEqual([]);
  });

  test.each(NAMES)('%s has no data tool that nobody may call', (name) => {
    const team = load(name);
    const called = new Set(team.agents.flatMap(({ may_call = [] }) => may_call));

    expect(team.agents.filter(({ id }) => id !== team.entry && !called.has(id))).toEqual([]);
  });
});

test('all tools of the agent that has most take no more than 5 kB of each of its prompts', async () => {
  const tools = toolsOf(load('react'), 'react').map((tool) => ({ id: tool, tool }));
  const definitions = await buildToolDefinitions(tools);
  expect(tools.length).toBeGreaterThan(20);
  expect(JSON.stringify(definitions).length).toBeLessThanOrEqual(5_000);
});

describe('supervisor', () => {
  const team = load('supervisor');

  test('has a router without data tools and four specialists (SV-04)', () => {
    expect(rolesOf(team)).toEqual(['route', 'web', 'code', 'file', 'math']);
    expect(callsOf(team, 'route')).toEqual(['web', 'code', 'file', 'math']);
    expect(toolsOf(team, 'route')).toEqual([]);
  });

  test.each([
    ['web', ['tavily_search', 'wikipedia', 'analyze_youtube_video']],
    ['code', ['python_repl']],
    [
      'file',
      [
        'gaia_file',
        'read_excel',
        'understand_audio',
        'analyze_image',
        'read_file',
        'read_pdf',
        'python_repl',
      ],
    ],
    ['math', ['calculator', 'python_repl']],
  ])(
    'gives the %s specialist its tools, and no other role to call (SV-10, SV-11, SV-12, SV-13)',
    (id, tools) => {
      expect(toolsOf(team, id)).toEqual(expect.arrayContaining(tools));
      expect(callsOf(team, id)).toHaveLength(toolsOf(team, id).length);
    },
  );

  test('looks up outside by the web specialist alone; the file specialist only fetches the question’s file', () => {
    for (const id of ['code', 'file', 'math']) {
      expect(toolsOf(team, id).filter((tool) => WEB.test(tool))).toEqual([]);
    }
  });
});

describe('react', () => {
  const team = load('react');

  test('has one role with the fifteen tools (RA-20, RA-21)', () => {
    expect(rolesOf(team)).toEqual(['react']);
    expect(team.limits.iterations).toBe(50);
    expect(callsOf(team, 'react')).toHaveLength(team.agents.length - 1);
    expect(toolsOf(team, 'react')).toEqual(
      expect.arrayContaining([
        'duckduckgo_search',
        'tavily_search',
        'wikipedia',
        'youtube_transcript',
        'arxiv_search',
        'list_files',
        'read_file',
        'read_excel',
        'download_file',
        'execute_python_file',
        'understand_video',
        'understand_audio',
        'analyze_image',
        'calculator',
        'python_repl',
      ]),
    );
  });
});

describe('overseer', () => {
  const team = load('overseer');

  test('has planner, executor and an overseer of two calls, led by a runner that thinks nothing (OV-01, OV-46)', () => {
    expect(rolesOf(team)).toEqual(['runner', 'plan', 'execute', 'diagnose', 'abstract']);
  });

  test('gives data tools to the executor alone; the store is the runner’s alone (OV-03, OV-05)', () => {
    for (const { id } of team.agents) {
      const tools = toolsOf(team, id);
      if (id === 'runner') expect(tools).toEqual(['gap_store']);
      else if (id !== 'execute') expect(tools).toEqual([]);
      else expect(tools).not.toContain('gap_store');
    }
    expect(toolsOf(team, 'execute').length).toBeGreaterThan(10);
  });

  test('gives the executor search, code, files and pages (OV-04)', () => {
    expect(toolsOf(team, 'execute')).toEqual(
      expect.arrayContaining(['tavily_search', 'python_repl', 'read_file', 'fetch_page']),
    );
  });

  test('keeps who knows the truth from who works on the question (OV-18)', () => {
    for (const id of ['plan', 'execute', 'diagnose', 'abstract']) {
      const partners = callsOf(team, id).map(
        (partner) => team.agents.find(({ id }) => id === partner)?.tool ?? '',
      );
      expect(partners.every(isDataTool)).toBe(true);
    }
    expect(team.routing).toBe('direct');
  });

  test('takes no answers of earlier runs: they could not improve', () => {
    expect(team.use_cache).toBe(false);
  });
});

describe('panel', () => {
  const team = load('panel');

  test('has five roles and a runner (REQ-001, REQ-013, REQ-014, REQ-015, REQ-016, REQ-017)', () => {
    expect(rolesOf(team)).toEqual(['runner', 'planner', 'researcher', 'expert', 'critic', 'finalizer']);
    expect(callsOf(team, 'runner')).toEqual(['planner', 'researcher', 'expert', 'critic', 'finalizer']);
    const tools = team.agents.filter(({ id }) => rolesOf(team).includes(id)).map(({ tool }) => tool);
    expect(new Set(tools).size).toBe(6);
  });

  test('gives information tools to the researcher, and what calculates to the expert; the others have none (REQ-003, REQ-041, REQ-042, REQ-043)', () => {
    expect(toolsOf(team, 'researcher')).toEqual(
      expect.arrayContaining([
        'duckduckgo_search',
        'wikipedia',
        'youtube_transcript',
        'read_pdf',
        'read_excel',
        'read_pptx',
        'read_file',
      ]),
    );
    expect(toolsOf(team, 'researcher')).not.toContain('calculator');
    expect(toolsOf(team, 'expert')).toEqual(expect.arrayContaining(['calculator', 'python_repl']));
    // The expert reads the question's file again to calculate with it, but looks nothing up.
    expect(toolsOf(team, 'expert').filter((tool) => WEB.test(tool))).toEqual([]);
    for (const id of ['runner', 'planner', 'critic', 'finalizer']) expect(toolsOf(team, id)).toEqual([]);
  });

  test('has the file read before the planner sees the question (REQ-012, REQ-053)', () => {
    expect(team.document).toBe('attachment');
  });

  test('has retry limits of each role’s own, and thresholds, as configuration (REQ-064, REQ-069b, REQ-075)', () => {
    expect(team.retry).toEqual({ planner: 3, researcher: 6, expert: 5 });
    expect(team.agents.find(({ id }) => id === 'critic')?.options).toEqual({
      thresholds: { quality: 6, relevance: 6 },
    });
  });
});

describe('single', () => {
  test('is one agent with nobody to ask, which gets the attachment’s text', () => {
    const team = load('single');

    expect(team.agents).toMatchObject([{ id: 'alone', tool: 'answer_alone', may_call: [] }]);
    expect(team.document).toBe('attachment');
  });
});

describe('the teams that ship', () => {
  const agentsOf = (team: Team) =>
    team.agents.map(({ id, tool, may_call = [], options }) => ({
      id,
      tool,
      may_call,
      options,
    }));

  // Teams share the code that routes packets: one team is tried with each routing, and the others with their own.
  test.each([
    ['supervisor', 'direct'],
    ['supervisor', 'broadcast'],
    ['supervisor', 'topic'],
    ['react', 'direct'],
    ['panel', 'topic'],
    ['single', 'broadcast'],
  ] as const)('%s answers without a model under %s routing (MP-74, REQ-078)', async (name, routing) => {
    const team = load(name);
    const text = 'The mill was built in 1911 by Orla Finch. It has four floors.';
    const mesh = await startTeamMesh({
      agents: agentsOf(team),
      entry: team.final,
      routing,
      files: { 'mill.txt': text },
      prompts: loadPrompt,
    });

    const outcome = await mesh.ask({
      question: 'Who built the mill?',
      ...(team.document === 'attachment' ? { chunks: [text] } : {}),
      file_name: 'mill.txt',
    });

    expect(outcome).toMatchObject({ status: 'answered', answer: 'Orla Finch' });
    expect(mesh.refused).toEqual([]);
  });
});
