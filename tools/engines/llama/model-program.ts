// The process that runs models for all agents of a run. It ends with its launcher, whose channel closes even if it is killed.
import { mkdtempSync, rmSync } from 'node:fs';
import type net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { LLAMA_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import type * as z from 'zod';
import { serveChat } from './chat-server.ts';
import { modelMessageSchema } from './launch-model.ts';
import { loadLibrary } from './library.ts';
import { LocalModel } from './local-model.ts';

const models = new Map<string, LocalModel>();
let library: ReturnType<typeof loadLibrary> | undefined;

process.on('SIGINT', () => undefined);
let states = '';
process.on('disconnect', () => {
  if (states !== '') rmSync(states, { recursive: true, force: true });
  // Threads of the library may be at work, which an orderly end would wait for.
  process.kill(process.pid, 'SIGKILL');
});
process.on('message', (message: unknown, handle) => {
  const order = modelMessageSchema.parse(message);
  if ('file' in order) return void load(order);
  ({ states } = order);
  library = loadLibrary(order.folder, order.gpu);
  library.catch(() => undefined);
  serveChat(handle as net.Server, { token: order.token, models });
});

/** One processor stays free for the hub and the agents: threads of the library that wait for a busy one are many times slower. */
const threads = Math.max(1, os.availableParallelism() - 1);

async function load({
  name,
  file,
  contextTokens,
}: Extract<z.infer<typeof modelMessageSchema>, { file: string }>): Promise<void> {
  let loaded: Awaited<typeof library>;
  try {
    loaded = await library;
    if (loaded === undefined) throw new Error('the library has not been named');
    models.set(
      name,
      await LocalModel.load(loaded, file, {
        contextTokens,
        threads,
        folder: mkdtempSync(path.join(states, 'model-')),
      }),
    );
    process.send?.({ loaded: name });
  } catch (error) {
    // The library's log, which names the cause, comes after its error.
    await setTimeout(LLAMA_LIMITS.logMs);
    process.send?.({ failed: name, why: loaded?.takeErrors() ?? toErrorMessage(error) });
  }
}
