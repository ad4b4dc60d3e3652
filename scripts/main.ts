import * as z from 'zod';

const [first, ...rest] = process.argv.slice(2);

// Agents and runs check only a few values with each schema, so that compiling a parser for each would take longer.
if (/^(agent|bench|gaia)$/.test(first ?? '')) z.config({ jitless: true });

// An agent that its launcher configures needs no command line, and a run starts several of them.
if (first === 'agent' && rest.length === 0 && process.send !== undefined) {
  const { runLaunchedAgent } = await import('./launched-agent.ts');
  await runLaunchedAgent();
} else if (first === 'peer' && rest.length === 0 && process.send !== undefined) {
  // This process is one end of a stack that is being measured.
  const { runLaunchedPeer } = await import('@gaia-mesh/evaluation/compare/stacks/peers/peer.ts');
  runLaunchedPeer();
} else {
  const { guardProcess, runProgram } = await import('./command-line/program.ts');
  const { commands } = await import('./commands.ts');
  const name = 'gaia-mesh';
  guardProcess(name);
  await runProgram({
    name,
    description: 'A local benchmark of agent protocols and agent architectures.',
    commands,
  });
}
