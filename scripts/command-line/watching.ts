import type { Watch } from '@gaia-mesh/evaluation/watch/watch.ts';
import { type Command, InvalidArgumentError } from 'commander';

/** As {@link addWatchOptions} has them. */
export interface WatchChoice {
  /** A port, or true for any free one. */
  readonly watch?: number | true;
  readonly open?: boolean;
}

/** Options of a command that can be followed in the browser. */
export function addWatchOptions(command: Command): Command {
  return command
    .option('--watch [port]', 'serve a live page of the run', parsePort)
    .option('--open', 'open the live page in your browser');
}

/** The page, where it was asked for. @throws MeshError `usage` where the port is taken */
export async function openWatch(
  { watch, open = false }: WatchChoice,
  title: string,
): Promise<Watch | undefined> {
  if (watch === undefined) return undefined;
  // The server of the page is loaded by those who watch.
  const { Watch } = await import('@gaia-mesh/evaluation/watch/watch.ts');
  return Watch.start({ title, port: watch === true ? 0 : watch, opens: open });
}

export function parsePort(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 65_535)
    throw new InvalidArgumentError('expected a port from 1 to 65535.');
  return value;
}
