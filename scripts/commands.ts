import type { CommandEntry } from './command-line/program.ts';

/** All commands, in the order in which the help shows them. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'bench',
    group: 'Run',
    summary: 'let a team of agents answer one task or many, and write metrics and an archive',
    load: async () => (await import('./commands/bench.ts')).bench,
  },
  {
    name: 'serve',
    group: 'Run',
    summary: 'keep a team up as an MCP server and an A2A agent, for whoever wants to ask it',
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  {
    name: 'logs',
    group: 'Run',
    summary: "print the agents' and the hub's logs of the last run, merged in order of time",
    load: async () => (await import('./commands/logs.ts')).logs,
  },
  {
    name: 'agent',
    group: 'Run',
    summary: 'run one agent in this terminal, for a hub that dials it',
    load: async () => (await import('./commands/agent.ts')).agent,
  },
  {
    name: 'hub',
    group: 'Run',
    summary: 'run the hub alone, for agents that you started',
    load: async () => (await import('./commands/hub.ts')).hub,
  },
  {
    name: 'compare',
    group: 'Compare',
    summary: 'compare adapters on the same recorded packets: bytes, time, prompt tokens',
    load: async () => (await import('./commands/compare.ts')).compare,
  },
  {
    name: 'import',
    group: 'Compare',
    summary: "make a recording of other tools' logs: OpenTelemetry, model APIs, MCP, A2A, HAR, ATIF",
    load: async () => (await import('./commands/import.ts')).importCommand,
  },
  {
    name: 'export',
    group: 'Compare',
    summary: 'write a run as other tools read it: OpenTelemetry, Parquet, Perfetto, HAR, ATIF',
    load: async () => (await import('./commands/export.ts')).exportCommand,
  },
  {
    name: 'report',
    group: 'Compare',
    summary: 'write runs and a comparison as one HTML page that opens from disk',
    load: async () => (await import('./commands/report.ts')).report,
  },
  {
    name: 'view',
    group: 'Compare',
    summary: 'browse the runs and comparisons of a folder, set two side by side, find a packet by text',
    load: async () => (await import('./commands/view.ts')).view,
  },
  {
    name: 'gaia',
    group: 'Questions',
    summary: 'have teams of agents answer a file of questions, score them, and set them side by side',
    load: async () => (await import('./commands/gaia.ts')).gaia,
  },
  {
    name: 'evaluate',
    group: 'Questions',
    summary: 'score predictions: JSON lines in, JSON lines out',
    load: async () => (await import('./commands/evaluate.ts')).evaluate,
  },
  {
    name: 'conformance',
    group: 'Develop',
    summary: 'run the contract suite on your adapter and say what fails',
    load: async () => (await import('./commands/conformance.ts')).conformance,
  },
  {
    name: 'prompt-test',
    summary: 'try a changed prompt beside the one that ships',
    load: async () => (await import('./commands/prompt-test.ts')).promptTest,
  },
  {
    name: 'list',
    group: 'This installation',
    summary: 'list adapters, layers, tools, engines, teams, tasks or scorers',
    load: async () => (await import('./commands/installation/list.ts')).list,
  },
  {
    name: 'doctor',
    group: 'This installation',
    summary: 'check what this machine has: Node, ports, permission model, Ollama, disk',
    load: async () => (await import('./commands/installation/doctor.ts')).doctor,
  },
  {
    name: 'clean',
    group: 'This installation',
    summary: 'delete the results of runs (metrics, archive, workspaces, older runs) and of gaia',
    load: async () => (await import('./commands/installation/clean.ts')).clean,
  },
  {
    name: 'schema',
    summary: 'print the JSON Schema of the team file',
    load: async () => (await import('./commands/installation/schema.ts')).schema,
  },
];
