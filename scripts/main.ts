const [first, ...rest] = process.argv.slice(2);

// Every run starts several agents: one that its launcher tells what to be needs no command line.
if (first === 'agent' && rest.length === 0 && process.send !== undefined) {
  const { launchedAgent } = await import('./launched-agent.ts');
  await launchedAgent();
} else if (first === 'peer' && rest.length === 0 && process.send !== undefined) {
  // One end of a stack that is measured.
  const { launchedPeer } = await import('@gaia-mesh/evaluation/compare/stacks/peers/launched-peer.ts');
  launchedPeer();
} else {
  const { runProgram } = await import('./command-line/program.ts');
  const { commands } = await import('./commands.ts');
  await runProgram({
    name: 'gaia-mesh',
    description: 'A local benchmark of agent protocols and agent architectures.',
    commands,
  });
}
