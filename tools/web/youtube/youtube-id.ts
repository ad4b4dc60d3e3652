import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';

const ID = /^[A-Za-z0-9_-]{11}$/;

/**
 * Parses a YouTube URL in any of its forms (`watch?v=`, `youtu.be/`, `shorts/`, `embed/`, `live/`), or a bare id: returns the video's id, and
 * its URL in the form that every service understands.
 *
 * @throws MeshError `tool` for anything else
 */
export function parseYoutubeUrl(url: string): { readonly id: string; readonly address: string } {
  const text = url.trim();
  const id = ID.test(text) ? text : findId(URL.parse(text.includes('://') ? text : `https://${text}`));
  if (id !== undefined && ID.test(id)) return { id, address: `https://www.youtube.com/watch?v=${id}` };
  throw new MeshError(
    'tool',
    `${JSON.stringify(url.slice(0, 200))} does not name a YouTube video: give an address like https://www.youtube.com/watch?v=ID with an id of 11 characters`,
  );
}

function findId(url: URL | null): string | undefined {
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  const [, first, second] = url.pathname.split('/');
  if (url.hostname === 'youtu.be') return first;
  if (!/^((www|m|music)\.)?youtube(-nocookie)?\.com$/.test(url.hostname)) return undefined;
  if (first === 'watch') return url.searchParams.get('v') ?? undefined;
  return ['shorts', 'embed', 'live', 'v'].includes(first ?? '') ? second : undefined;
}
