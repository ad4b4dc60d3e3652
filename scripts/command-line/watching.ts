import type { Watch } from '@gaia-mesh/evaluation/watch/watch.ts';
import { type Command, InvalidArgumentError } from 'commander';

/** The options of {@link addWatchOptions}. */
export interface WatchChoice {
  /** A port, or true for any free one. */
  readonly watch?: number | true;
  readonly open?: boolean;
}

/** Adds the options of a command that can be followed in the browser. */
export function addWatchOptions(command: Command): Command {
  return command
    .option('--watch [port]', 'serve a live page of the run', parsePort)
    .option('--open', 'open the live page in your browser');
}

/**
 * Opens the live page if it was requested.
 *
 * @throws MeshError `usage` when the port is taken
 */
export async function openWatch(
  { watch, open = false }: WatchChoice,
  title: string,
): Promise<Watch | undefined> {
  if (watch === undefined) return undefined;
  // Only runs that are watched load the server of the page.
  const { Watch } = await import('@gaia-mesh/evaluation/watch/watch.ts');
  return Watch.start({ title, port: watch === true ? 0 : watch, opens: open });
}

export function parsePort(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 65_535)
    throw new InvalidArgumentError('expected a port from 1 to 65535.');
  return value;
}
