import { guardProcess, runProgram } from '@gaia-mesh/cli/command-line/program.ts';

guardProcess('lab');

await runProgram({
  name: 'lab',
  description: 'Measures and stresses the mesh, for contributors.',
  commands: [
    {
      name: 'perf',
      group: 'Measure',
      summary: 'measure the default run and a batch, or the relay',
      load: async () => (await import('./perf/perf.ts')).definePerf,
    },
    {
      name: 'results',
      group: 'Measure',
      summary: 'measure results pages again, or list stale ones',
      load: async () => (await import('./measure/results-command.ts')).defineResults,
    },
    {
      name: 'results:model',
      group: 'Measure',
      summary: 'measure teams with a small real model',
      load: async () => (await import('./measure/model-results.ts')).defineModelResults,
    },
    {
      name: 'results:tools',
      group: 'Measure',
      summary: 'count the tokens of ten public MCP servers',
      load: async () => (await import('./measure/tool-results.ts')).defineToolResults,
    },
    {
      name: 'lab:embedded',
      group: 'Measure',
      summary: 'measure accuracy, calibration and speed of the embedded engine',
      load: async () => (await import('./training/embedded-command.ts')).defineEmbedded,
    },
    {
      name: 'lab:blame',
      group: 'Measure',
      summary: 'plant lies and count how often gaia blame finds them',
      load: async () => (await import('./blame/blame-command.ts')).blameTrialsCommand,
    },
    {
      name: 'lab:attribution',
      group: 'Measure',
      summary: 'score attributions against labelled failures of Who&When',
      load: async () => (await import('./blame/attribution-command.ts')).defineAttribution,
    },
    {
      name: 'claims',
      group: 'Measure',
      summary: 'test published claims about formats and protocols',
      load: async () => (await import('./claims/claims.ts')).claims,
    },
    {
      name: 'lab:model-server',
      group: 'Stress',
      summary: 'serve scripted replies as a model server',
      load: async () => (await import('./model-server/model-server-command.ts')).defineModelServer,
    },
    {
      name: 'lab:mutants',
      group: 'Stress',
      summary: 'plant bugs and list those that no test finds',
      load: async () => (await import('./mutants/mutants-command.ts')).defineMutants,
    },
  ],
});
