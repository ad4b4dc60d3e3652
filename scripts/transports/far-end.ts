import { fork } from 'node:child_process';
import path from 'node:path';
import * as z from 'zod';
import { codeFolder } from '../../config/package-root.ts';
import type { Listen } from '../../core/agent/listener.ts';
import { MeshError } from '../../core/errors.ts';
import type { FrameLink } from '../../core/frame-link.ts';
import type { MeshNode } from '../../core/hub/link.ts';
import { MAX_FRAME_BYTES } from '../../core/limits.ts';
import type { RunTransport } from '../../core/run/run-transport.ts';

/** First byte of a frame that the far end sends back; others it only reads. */
export const ECHO = 1;

/** Where the far end listens, on whatever transport. */
export const FAR_NODE: MeshNode = { id: 'far-end', tool: 'none', port: 0, secret: '' };

const upSchema = z.object({ listening: z.int().nonnegative() });

/** The other process of a measurement: reads frames, and sends back those that ask for it. */
export async function serveFarEnd(listen: Listen): Promise<void> {
  const listener = await listen({
    accept(link) {
      link.start(MAX_FRAME_BYTES, (run) => {
        for (const blob of run.blobs()) if (blob[0] === ECHO) link.sendBlob(blob);
        return 'done';
      });
    },
    fault: (message) => console.error(message),
  });
  process.on('disconnect', () => process.exit());
  // A terminal's Ctrl-C is for the one that started it, which ends it in order.
  process.on('SIGINT', () => undefined);
  process.send?.({ listening: listener.port });
}

export interface FarEnd {
  readonly link: FrameLink;
  stop(): void;
}

/**
 * Starts it and connects to it. Nothing is agreed: what is measured is the connection.
 *
 * @throws MeshError `agent` when it does not come up
 */
export async function startFarEnd(transport: RunTransport, environment: NodeJS.ProcessEnv): Promise<FarEnd> {
  const child = fork(
    path.join(codeFolder, 'scripts', 'gaia-mesh.js'),
    ['far-end', ...transport.agentOptions],
    {
      env: { ...environment, ...transport.environment },
    },
  );
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  child.once('message', (message) => resolve(upSchema.parse(message).listening));
  child.once('exit', (code) => reject(new MeshError('agent', `the far end ended with ${code}`)));
  const link = await transport.dialler.dial({ ...FAR_NODE, port: await promise });
  if (link === undefined) throw new MeshError('agent', 'the far end does not listen');
  return {
    link,
    stop() {
      link.destroy();
      if (child.connected) child.disconnect();
    },
  };
}
