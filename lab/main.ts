import { guardProcess, runProgram } from '@gaia-mesh/cli/command-line/program.ts';

guardProcess('lab');

await runProgram({
  name: 'lab',
  description: 'Measures and stresses the mesh. For those who work on it.',
  commands: [
    {
      name: 'perf',
      group: 'Measure',
      summary: 'the default run, a batch of tasks, and the relay',
      load: async () => (await import('./perf/perf.ts')).definePerf,
    },
    {
      name: 'results',
      group: 'Measure',
      summary: 'measure the pages of results again, and list those that are older than their subject',
      load: async () => (await import('./measure/results-command.ts')).defineResults,
    },
    {
      name: 'results:model',
      group: 'Measure',
      summary: 'what teams are worth with a small real model, beside the embedded engine',
      load: async () => (await import('./measure/model-results.ts')).defineModelResults,
    },
    {
      name: 'results:tools',
      group: 'Measure',
      summary: 'what the tools of ten public MCP servers cost in tokens',
      load: async () => (await import('./measure/tool-results.ts')).defineToolResults,
    },
    {
      name: 'lab:embedded',
      group: 'Measure',
      summary:
        'how often the embedded engine is right about tables and texts, how sure it may be, how long it takes',
      load: async () => (await import('./training/embedded-command.ts')).defineEmbedded,
    },
    {
      name: 'lab:blame',
      group: 'Measure',
      summary: 'plant lies where seeds say, and count how often gaia blame names them first',
      load: async () => (await import('./blame/blame-command.ts')).blameTrialsCommand,
    },
    {
      name: 'lab:attribution',
      group: 'Measure',
      summary: 'score a file of attributions against labelled failures of the Who&When set',
      load: async () => (await import('./blame/attribution-command.ts')).defineAttribution,
    },
    {
      name: 'claims',
      group: 'Measure',
      summary: 'try claims that others published about formats and protocols, by comparisons',
      load: async () => (await import('./claims/claims.ts')).claims,
    },
    {
      name: 'lab:model-server',
      group: 'Stress',
      summary:
        'a model server without a model: replies from a file, and the behaviour of real servers by name',
      load: async () => (await import('./model-server/model-server-command.ts')).defineModelServer,
    },
    {
      name: 'lab:mutants',
      group: 'Stress',
      summary: 'plant bugs in a copy of the project, and say which of them no test finds',
      load: async () => (await import('./mutants/mutants-command.ts')).defineMutants,
    },
  ],
});
