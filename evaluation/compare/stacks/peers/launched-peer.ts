import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import { Peer } from './peer.ts';
import { commandSchema } from './protocol.ts';

const askedSchema = z.strictObject({ call: z.int(), command: z.unknown() });

/**
 * Runs one end of a measured stack as commanded over the channel, until the channel closes: a comparison that was killed leaves no process
 * behind. It ignores the terminal's Ctrl-C.
 */
export function runLaunchedPeer(): void {
  const peer = new Peer();
  const end = () => {
    // The end of the process closes anything that does not close in time.
    setTimeout(() => process.exit(0), CLOSE_MS).unref();
    peer.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', end);
  process.on('disconnect', end);
  process.on('message', (message) => void answer(peer, message));
}

const CLOSE_MS = 1000;

async function answer(peer: Peer, message: unknown): Promise<void> {
  const asked = askedSchema.parse(message);
  try {
    const command = commandSchema.safeParse(asked.command);
    if (!command.success) throw new MeshError('usage', `not a command: ${formatIssues(command.error)}`);
    const value = await peer.do(command.data);
    process.send?.({ call: asked.call, value });
  } catch (error) {
    // A bug of a stack fails its round, with the stack trace, and no other.
    const isExpected = error instanceof MeshError;
    const failed = isExpected
      ? { code: error.code, message: error.message }
      : { code: 'bug', message: String(error instanceof Error ? error.stack : toErrorMessage(error)) };
    process.send?.({ call: asked.call, failed });
  }
}
