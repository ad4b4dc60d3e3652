import { once } from 'node:events';
import type net from 'node:net';
import type { Agent } from '@gaia-mesh/core/agent/agent.ts';
import { agentSpecSchema } from '@gaia-mesh/core/agent/spec.ts';
import { explainSystemFault, MeshError, readSystemCode } from '@gaia-mesh/core/contracts/errors.ts';
import { PORT_HINT } from '@gaia-mesh/evaluation/teams/port-hint.ts';
import { startAgent } from '@gaia-mesh/evaluation/teams/start-agent.ts';
import { printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { createLauncherPermits } from '@gaia-mesh/tools/engines/permits.ts';

/**
 * Runs the agent that a launcher specifies over the channel, until the channel closes. It ignores the terminal's
 * Ctrl-C: the launcher ends the run in order, and its channel closes even if it is killed.
 */
export async function runLaunchedAgent(): Promise<void> {
  let agent: Agent | undefined;
  const end = async () => {
    await agent?.stop();
    process.exit(0);
  };
  // A full disk may fail any write: the agent explains it in a sentence, and the launcher learns of the agent's end.
  process.on('uncaughtException', (error) => {
    printError(explainSystemFault(error) ?? explainSystemFault(error.cause) ?? String(error.stack));
    process.exit(1);
  });
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => void end());
  process.on('disconnect', () => void end());
  const [message, server] = await once(process, 'message');
  // The launcher may have been killed while this process started, before anything listened for it.
  if (!process.connected) process.exit(0);
  // The hub connects only when the agent is ready, so that an earlier connection is not of this run.
  server?.on('connection', (socket: net.Socket) => socket.destroy());
  try {
    agent = await startAgent(agentSpecSchema.parse(message), createLauncherPermits(process), server);
    // The launcher may have ended meanwhile, so that an error of the channel is ignored.
    process.send?.({ listening: agent.port }, () => undefined);
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    const isPortTaken = readSystemCode(error.cause) === 'EADDRINUSE';
    const failed = isPortTaken ? error.message + PORT_HINT : error.message;
    process.send?.({ failed }, () => process.exit(1));
  }
}
