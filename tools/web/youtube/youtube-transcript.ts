import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import * as z from 'zod';
import type { DataTool, DataToolContext } from '../../data-tool.ts';
import { callService, type ServiceCall } from '../call-service.ts';
import { resolveServiceUrl } from '../services.ts';
import { parseYoutubeUrl } from './youtube-id.ts';

const jsonSchema = z.object({
  events: z
    .array(
      z.object({
        tStartMs: z.number().default(0),
        segs: z.array(z.object({ utf8: z.string().default('') })).default([]),
      }),
    )
    .default([]),
});

/**
 * Parses a video's captions into lines with times (`[1:05] …`), from any of YouTube's formats: `json3`, `srv3`, and the older
 * XML, which servers may send although another one was requested. Empty lines are left out.
 *
 * @throws MeshError `tool` for anything else
 */
async function parseCaptions(text: string): Promise<string[]> {
  const json = jsonSchema.safeParse(tryParseJson(text));
  const lines = json.success
    ? json.data.events.map(({ tStartMs, segs }) =>
        formatCaption(tStartMs, segs.map(({ utf8 }) => utf8).join('')),
      )
    : await parseXmlCaptions(text);
  return lines.filter((line) => line !== undefined);
}

/** Parses `<text start="1.54">`, or `<p t="1540">` with words in `<s>`. */
async function parseXmlCaptions(xml: string): Promise<(string | undefined)[]> {
  const [{ XMLParser, XMLValidator }, { parseHTML }] = await Promise.all([
    import('fast-xml-parser'),
    import('linkedom'),
  ]);
  if (XMLValidator.validate(xml) !== true) {
    throw new MeshError('tool', 'youtube sent an undocumented reply: neither JSON nor XML');
  }
  const parser = new XMLParser({
    ignoreAttributes: false,
    parseTagValue: false,
    trimValues: false,
    stopNodes: ['*.text', '*.p'],
    isArray: (name) => name === 'text' || name === 'p',
  });
  const body = xmlSchema.safeParse(parser.parse(xml));
  if (!body.success) throw new MeshError('tool', 'youtube sent an undocumented reply: no <text>, no <p>');
  const readText = (html: string) => parseHTML(`<p>${html}</p>`).document.documentElement.textContent ?? '';
  // Texts are escaped twice, and have tags at both levels.
  return body.data.map(({ startMs, text }) => formatCaption(startMs, readText(readText(text))));
}

const attribute = z.coerce.number().default(0);
const xmlSchema = z.union([
  z
    .object({
      transcript: z.object({
        text: z.array(z.object({ '@_start': attribute, '#text': z.string().default('') })),
      }),
    })
    .transform(({ transcript }) =>
      transcript.text.map((line) => ({ startMs: line['@_start'] * 1000, text: line['#text'] })),
    ),
  z
    .object({
      timedtext: z.object({
        body: z.object({ p: z.array(z.object({ '@_t': attribute, '#text': z.string().default('') })) }),
      }),
    })
    .transform(({ timedtext }) =>
      timedtext.body.p.map((line) => ({ startMs: line['@_t'], text: line['#text'] })),
    ),
]);

function formatCaption(startMs: number, text: string): string | undefined {
  const words = text.replace(/\s+/g, ' ').trim();
  if (words === '') return undefined;
  const seconds = Math.max(0, Math.floor(startMs / 1000));
  return `[${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}] ${words}`;
}

const input = z.strictObject({
  url: z.string().min(1).max(2048),
  language: z
    .string()
    .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})?$/, 'must be a code like en or pt-BR')
    .exactOptional()
    .describe('default en'),
});

const trackSchema = z.object({
  baseUrl: z.string(),
  languageCode: z.string(),
  kind: z.string().optional(),
});
type Track = z.infer<typeof trackSchema>;

const playerSchema = z.object({
  playabilityStatus: z
    .object({
      status: z.string(),
      reason: z.string().optional(),
      errorScreen: z
        .object({
          playerErrorMessageRenderer: z.object({
            subreason: z.object({ runs: z.array(z.object({ text: z.string() })) }).optional(),
          }),
        })
        .optional()
        // This part is for display and has more forms than this one.
        .catch(undefined),
    })
    .optional(),
  captions: z
    .object({
      playerCaptionsTracklistRenderer: z.object({ captionTracks: z.array(trackSchema).default([]) }),
    })
    .optional(),
  videoDetails: z.object({ title: z.string(), author: z.string().optional() }).optional(),
});
type Player = z.infer<typeof playerSchema>;

/** The client that the request claims to be: the Android app, whose tracks need no proof of a browser. */
const CLIENT = { clientName: 'ANDROID', clientVersion: '20.10.38' };

const ELSEWHERE = 'try understand_video, or search for the video’s title';

/** Fetches a video's captions in the way of YouTube's own player: watch page → key → player → track. */
export const youtubeTranscript: DataTool<z.infer<typeof input>> = {
  name: 'youtube_transcript',
  description: 'Captions of a YouTube video, with times.',
  input,
  async run({ url, language = 'en' }, context) {
    const { id, address } = parseYoutubeUrl(url);
    const player = await fetchPlayer(id, context);
    const tracks = listTracks(player, id);
    const track = chooseTrack(tracks, language);
    const lines = await fetchLines(track, id, context);
    const title = player.videoDetails?.title ?? '';
    const author = player.videoDetails?.author;
    const kind = track.kind === 'asr' ? `${track.languageCode}, made by a machine` : track.languageCode;
    const head =
      `${title}${author === undefined ? '' : ` (${author})`}\n${address}\nTranscript (${kind}):`.trim();
    return {
      text: [head, ...lines].join('\n'),
      data: { title, language: track.languageCode, lines: lines.length },
    };
  },
};

async function fetchPlayer(id: string, context: DataToolContext): Promise<Player> {
  const key = await fetchPlayerKey(id, context);
  const reply = await ask(
    {
      service: 'youtube',
      path: '/youtubei/v1/player',
      query: { key },
      json: { context: { client: CLIENT }, videoId: id },
    },
    context,
  );
  return reply.parse(playerSchema);
}

async function fetchPlayerKey(id: string, context: DataToolContext): Promise<string> {
  let page = await watchPage(id, context, {});
  if (page.includes('action="https://consent.youtube.com/s"')) {
    const consent =
      /<input[^>]{0,300}name="v"[^>]{0,300}value="([^"]{1,200})"|<input[^>]{0,300}value="([^"]{1,200})"[^>]{0,300}name="v"/.exec(
        page,
      );
    const value = consent?.[1] ?? consent?.[2] ?? '';
    // Only characters that a cookie may hold are accepted: the page is untrusted.
    if (!/^[A-Za-z0-9_.+-]+$/.test(value))
      throw new MeshError('tool', `youtube asks for consent in a new way: ${ELSEWHERE}`);
    page = await watchPage(id, context, { cookie: `CONSENT=YES+${value}` });
  }
  if (page.includes('class="g-recaptcha"')) throw createBlockedError('it shows a CAPTCHA');
  const key = /"INNERTUBE_API_KEY":\s*"([A-Za-z0-9_-]{1,100})"/.exec(page)?.[1];
  if (key === undefined)
    throw new MeshError('tool', `youtube's page has changed and has no player key: ${ELSEWHERE}`);
  return key;
}

async function watchPage(
  id: string,
  context: DataToolContext,
  headers: Record<string, string>,
): Promise<string> {
  const call = { service: 'youtube', path: '/watch', query: { v: id } } as const;
  return (await ask({ ...call, headers: { 'accept-language': 'en-US', ...headers } }, context)).text;
}

/** Sends a request. Status 429 means that YouTube blocks this address, not that there were too many requests. */
async function ask(call: ServiceCall, context: DataToolContext) {
  const reply = await callService({ ...call, accepts: [429] }, context);
  if (reply.status === 429) throw createBlockedError('status 429');
  return reply;
}

function createBlockedError(why: string): MeshError {
  return new MeshError('tool', `youtube blocks this address (${why}): ${ELSEWHERE}`);
}

/** @throws MeshError `tool`: unavailable, restricted, blocked, or without captions, each with its own message */
function listTracks({ playabilityStatus, captions }: Player, id: string): readonly Track[] {
  const { status = 'OK', reason = '', errorScreen } = playabilityStatus ?? {};
  if (status !== 'OK') {
    if (reason.includes('not a bot')) throw createBlockedError(reason);
    const runs = errorScreen?.playerErrorMessageRenderer.subreason?.runs ?? [];
    const details = [reason || status, ...runs.map(({ text }) => text.trim())]
      .filter((part) => part !== '')
      .join('; ');
    const what = reason.includes('inappropriate') ? 'is age-restricted' : 'is not available';
    throw new MeshError('tool', `the video ${id} ${what}: ${details}`);
  }
  const tracks = captions?.playerCaptionsTracklistRenderer.captionTracks ?? [];
  if (tracks.length === 0)
    throw new MeshError('tool', `the video ${id} has no transcript (captions are disabled): ${ELSEWHERE}`);
  return tracks;
}

/** Chooses a track in `language`, else English, else any; human captions come before automatic ones. */
function chooseTrack(tracks: readonly Track[], language: string): Track {
  const rank = (track: Track) => {
    const base = track.languageCode.split('-')[0];
    const place = [track.languageCode, base].includes(language)
      ? 0
      : base === language.split('-')[0]
        ? 1
        : base === 'en'
          ? 2
          : 3;
    return place * 2 + (track.kind === 'asr' ? 1 : 0);
  };
  return tracks.reduce((best, track) => (rank(track) < rank(best) ? track : best));
}

async function fetchLines(track: Track, id: string, context: DataToolContext): Promise<string[]> {
  const needsProof = () =>
    new MeshError(
      'tool',
      `youtube requires proof of a browser (PO token) for the transcript of ${id}: ${ELSEWHERE}`,
    );
  // Only the part after the host is used: a reply does not decide which server is called.
  const given = URL.parse(track.baseUrl, resolveServiceUrl('youtube', context.environment));
  if (given === null || given.pathname !== '/api/timedtext') {
    throw new MeshError(
      'tool',
      `youtube sent an undocumented reply: a track at ${track.baseUrl.slice(0, 100)}`,
    );
  }
  if (given.searchParams.get('exp') === 'xpe') throw needsProof();
  given.searchParams.set('fmt', 'json3');
  const { text } = await ask({ service: 'youtube', path: `${given.pathname}${given.search}` }, context);
  if (text.trim() === '') throw needsProof();
  return parseCaptions(text);
}
