import { describe, expect, test } from 'vitest';
import { serveWeb } from '../testing/serve-web.ts';
import { parseYoutubeUrl } from './youtube-id.ts';
import { youtubeTranscript } from './youtube-transcript.ts';

async function transcript(id: string, language?: string) {
  const { place, requests } = await serveWeb();
  const url = `https://youtu.be/${id}`;
  const input = language === undefined ? { url } : { url, language };
  return { ...(await youtubeTranscript.run(input, place)), requests };
}

describe('a video with captions', () => {
  test('gives them with their times, people’s before a machine’s (RA-33, REQ-043)', async () => {
    const { text, data, requests } = await transcript('plainvideo0');
    expect(text).toBe(
      [
        'The Vellmar lighthouse (Harbour Films)',
        'https://www.youtube.com/watch?v=plainvideo0',
        'Transcript (en):',
        '[0:00] The lamp was lit.',
        '[1:02] The end.',
      ].join('\n'),
    );
    expect(data).toEqual({ title: 'The Vellmar lighthouse', language: 'en', lines: 2 });
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /watch',
      'POST /youtubei/v1/player',
      'GET /api/timedtext',
    ]);
    expect(requests[1]?.query.get('key')).toBe('inventedPlayerKey_0');
    expect(requests[2]?.query.get('fmt')).toBe('json3');
  });

  test('gives the language that was asked for, else English', async () => {
    expect((await transcript('plainvideo0', 'de')).text).toContain('Die Lampe');
    expect((await transcript('plainvideo0', 'fr')).text).toContain('Transcript (en):');
  });

  test('of a machine says so', async () => {
    expect((await transcript('machine0000')).text).toContain(
      'Transcript (en, made by a machine):\n[0:00] the lam was lit.',
    );
  });

  test('in the older formats gives them, too', async () => {
    expect((await transcript('oldxml00000')).text).toMatch(
      /\n\[0:00\] The lamp & the keeper\n\[1:06\] it isn't lit$/,
    );
    expect((await transcript('newxml00000')).text).toMatch(/\n\[0:00\] The lamp\n\[1:01\] was lit$/);
  });

  test('behind a question for consent is asked for with its cookie', async () => {
    const { text, requests } = await transcript('consent0000');
    expect(text).toContain('The lamp was lit.');
    expect(requests[1]?.headers.cookie).toBe('CONSENT=YES+cb.2026');
  });
});

test.each([
  ['disabled000', 'the video disabled000 has no transcript (captions are disabled)'],
  ['gone0000000', 'the video gone0000000 is not available: This video is unavailable'],
  ['custom00000', 'the video custom00000 is not available: Not in your country; Ask; the harbour'],
  ['adults00000', 'the video adults00000 is age-restricted: This video may be inappropriate for some users.'],
  ['blocked0000', 'youtube blocks this address (Sign in to confirm you’re not a bot)'],
  ['limited0000', 'youtube blocks this address (status 429)'],
  ['riddle00000', 'youtube blocks this address (it shows a CAPTCHA)'],
  ['proof000000', 'youtube requires proof of a browser (PO token)'],
  ['emptybody00', 'youtube requires proof of a browser (PO token)'],
  ['changed0000', "youtube's page has changed and has no player key"],
])('the transcript of %s: %s (RA-33)', async (id, message) => {
  await expect(transcript(id)).rejects.toThrow(message);
});

test('a reply does not say which host is asked for the captions', async () => {
  const track = { baseUrl: 'http://169.254.169.254/latest/meta-data', languageCode: 'en' };
  const body = { captions: { playerCaptionsTracklistRenderer: { captionTracks: [track] } } };
  const { place, requests } = await serveWeb({
    youtube: ({ path }) => (path === '/watch' ? { body: '"INNERTUBE_API_KEY":"k"' } : { body }),
  });
  await expect(youtubeTranscript.run({ url: 'plainvideo0' }, place)).rejects.toThrow(
    /a track at http:\/\/169/,
  );
  expect(requests).toHaveLength(2);
});

test.each([
  'https://www.youtube.com/watch?v=abc-DEF_123&t=30s',
  'https://youtu.be/abc-DEF_123?si=x',
  'https://www.youtube.com/shorts/abc-DEF_123',
  'https://www.youtube.com/embed/abc-DEF_123',
  'https://m.youtube.com/watch?v=abc-DEF_123',
  'https://www.youtube.com/live/abc-DEF_123',
  'youtube.com/watch?v=abc-DEF_123',
  ' abc-DEF_123 ',
])('%s names a video', (url) => {
  expect(parseYoutubeUrl(url)).toEqual({
    id: 'abc-DEF_123',
    address: 'https://www.youtube.com/watch?v=abc-DEF_123',
  });
});

test.each([
  'https://example.org/watch?v=abc-DEF_123',
  'https://youtube.com.evil.example/watch?v=abc-DEF_123',
  'https://www.youtube.com/watch?v=short',
  'https://www.youtube.com/watch',
  'https://www.youtube.com/channel/abc-DEF_123',
  'ftp://youtu.be/abc-DEF_123',
  'abc-DEF_1234',
  '',
])('%j names none', (url) => {
  expect(() => parseYoutubeUrl(url)).toThrow('does not name a YouTube video: give an address like');
});
