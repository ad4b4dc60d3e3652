import type { Watch } from '@gaia-mesh/evaluation/watch/watch.ts';

/**
 * Opens the live page if it was requested, on the given port or on any free one.
 *
 * @throws MeshError `usage` when the port is taken
 */
export async function openWatch(
  { watch, open }: { readonly watch?: number | true | undefined; readonly open: boolean },
  title: string,
): Promise<Watch | undefined> {
  if (watch === undefined) return undefined;
  // Only runs that are watched load the server of the page.
  const { Watch } = await import('@gaia-mesh/evaluation/watch/watch.ts');
  return Watch.start({ title, port: watch === true ? 0 : watch, opens: open });
}
