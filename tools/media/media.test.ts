import { describe, expect, test } from 'vitest';
import { put, serve, useMediaPlace } from '../fixtures/media-place.ts';
import { mediaTools } from './understand-media.ts';

const {
  analyze_youtube_video: analyzeYoutubeVideo,
  understand_audio: understandAudio,
  understand_video: understandVideo,
} = mediaTools;

useMediaPlace();

const WAV = Buffer.concat([Buffer.from('RIFF'), Buffer.alloc(4), Buffer.from('WAVEfmt some sound')]);

describe('understand_video and analyze_youtube_video', () => {
  const gemini = ['GEMINI_BASE_URL', 'GEMINI_API_KEY'];

  test.each([understandVideo, analyzeYoutubeVideo])(
    '$name hands the address to the model and fetches nothing (SV-10, SV-15, SV-21, RA-40)',
    async (tool) => {
      const { place, requests } = await serve(gemini);
      const { text } = await tool.run(
        { url: 'https://youtu.be/abc-DEF_123?si=x', question: 'How many gulls?' },
        place,
      );
      expect(text).toBe('Three gulls.');
      expect(requests).toHaveLength(1);
      expect(requests[0]).toMatchObject({
        service: 'gemini',
        method: 'POST',
        path: '/v1beta/models/gemini-2.5-pro:generateContent',
        headers: { 'x-goog-api-key': 'gemini-invented-key-2' },
      });
      expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
        contents: [
          {
            role: 'user',
            parts: [
              { file_data: { file_uri: 'https://www.youtube.com/watch?v=abc-DEF_123' } },
              { text: 'How many gulls?' },
            ],
          },
        ],
        generationConfig: { temperature: 0 },
      });
      expect(requests[0]?.query.toString()).toBe('');
    },
  );

  const ask = (context: Parameters<typeof understandVideo.run>[1], url = 'abc-DEF_123') =>
    understandVideo.run({ url, question: 'x' }, context);

  test('asks the model that the user names', async () => {
    const { place, requests } = await serve(gemini);
    await ask({ ...place, environment: { ...place.environment, GEMINI_MODEL: 'gemini/x' } });
    expect(requests[0]?.path).toBe('/v1beta/models/gemini%2Fx:generateContent');
  });

  test('without a key names the variable, and the transcript as the other way (RA-50, C-18)', async () => {
    const { place, requests } = await serve(['GEMINI_BASE_URL']);
    await expect(ask(place)).rejects.toThrow(
      'no key: set GEMINI_API_KEY (in .env); youtube_transcript gets what is said',
    );
    expect(requests).toHaveLength(0);
  });

  test.each(['https://example.org/film.mp4', 'http://169.254.169.254/', 'x'])(
    'takes no other address: %s',
    async (url) => {
      const { place, requests } = await serve(gemini);
      await expect(ask(place, url)).rejects.toThrow(/does not name a YouTube video/);
      expect(requests).toHaveLength(0);
    },
  );

  test.each([
    [{ promptFeedback: { blockReason: 'SAFETY' } }, 'gemini gave no answer (SAFETY)'],
    [{ candidates: [{ finishReason: 'SAFETY', index: 0 }] }, 'gemini gave no answer (SAFETY)'],
    [{ candidates: [] }, 'gemini gave no answer (no reason given)'],
    [{ candidates: 'none' }, 'gemini sent an undocumented reply'],
  ])('%j is no answer', async (body, message) => {
    const { place } = await serve(gemini, { gemini: [{ body }] });
    await expect(ask(place)).rejects.toThrow(message);
  });

  test.each([
    [400, 'API key not valid. Please pass a valid API key.'],
    [429, 'Resource has been exhausted'],
    [503, 'The model is overloaded. Please try again later.'],
  ])('passes on status %i with its words (REQ-085)', async (status, message) => {
    const { place } = await serve(gemini, {
      gemini: [{ status, body: { error: { code: status, message, status: 'X' } } }],
    });
    await expect(ask(place)).rejects.toThrow(`gemini answered with status ${status}: ${message}`);
  });
});

describe('understand_audio', () => {
  const whisper = ['WHISPER_BASE_URL', 'WHISPER_API_KEY'];

  test('uploads the file to the speech model and gives its transcript (SV-12, SV-21, RA-41)', async () => {
    await put('talk.wav', WAV);
    const { place, requests } = await serve([...whisper, 'GEMINI_API_KEY', 'GEMINI_BASE_URL']);
    const { text } = await understandAudio.run({ file: 'talk.wav', question: 'When was it lit?' }, place);
    expect(text).toBe(
      'Transcript of ./talk.wav (heard by whisper-1):\nThe lamp was lit in eighteen seventy-one.\n\nThe question was: When was it lit?',
    );
    const [request] = requests;
    expect(request).toMatchObject({ service: 'whisper', path: '/v1/audio/transcriptions' });
    expect(request?.headers.authorization).toBe('Bearer whisper-invented-key-5');
    expect(request?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(request?.body).toContain('name="file"; filename="talk.wav"');
    expect(request?.body).toContain('WAVEfmt some sound');
    expect(request?.body).toMatch(/name="model"\r\n\r\nwhisper-1\r\n/);
  });

  test('asks a server of the user’s own without any key, with or without /v1 in its address (RA-41)', async () => {
    await put('talk.wav', WAV);
    const { place, requests } = await serve(['WHISPER_BASE_URL']);
    const environment = { WHISPER_BASE_URL: `${place.environment.WHISPER_BASE_URL}/v1/` };
    await understandAudio.run({ file: 'talk.wav' }, place);
    await understandAudio.run({ file: 'talk.wav' }, { ...place, environment });
    expect(requests.map(({ path: at, headers }) => [at, headers.authorization])).toEqual([
      ['/v1/audio/transcriptions', undefined],
      ['/v1/audio/transcriptions', undefined],
    ]);
  });

  test('names the format by the bytes, whatever the file is called', async () => {
    await put('talk.dat', Buffer.from('ID3\x03 some sound'));
    const { place, requests } = await serve(whisper);
    await understandAudio.run({ file: 'talk.dat' }, place);
    expect(requests[0]?.body).toContain('filename="talk.mp3"');
  });

  test('uploads to Gemini where that is the model there is (RA-41)', async () => {
    await put('talk.wav', WAV);
    const { place, requests } = await serve(['GEMINI_API_KEY', 'GEMINI_BASE_URL']);
    const { text } = await understandAudio.run({ file: 'talk.wav', question: 'Who speaks?' }, place);
    expect(text).toBe('Three gulls.\n\n[heard by Gemini]');
    expect(JSON.parse(requests[0]?.body ?? '').contents[0].parts).toEqual([
      { inline_data: { mime_type: 'audio/wav', data: WAV.toString('base64') } },
      { text: 'Who speaks?' },
    ]);
  });

  test('takes an answer of plain text, too', async () => {
    await put('talk.wav', WAV);
    const { place } = await serve(whisper, {
      whisper: [{ headers: { 'content-type': 'text/plain; charset=utf-8' }, body: 'Just words.\n' }],
    });
    const { text } = await understandAudio.run({ file: 'talk.wav' }, place);
    expect(text).toBe('Transcript of ./talk.wav (heard by whisper-1):\nJust words.');
  });

  test('says that nothing is said', async () => {
    await put('talk.wav', WAV);
    const { place } = await serve(whisper, { whisper: [{ body: { text: ' ' } }] });
    expect((await understandAudio.run({ file: 'talk.wav' }, place)).text).toMatch(
      /^no speech was recognised in/,
    );
  });

  test.each([
    [400, "Unrecognized file format. Supported formats: ['flac']"],
    [413, 'Maximum content size limit (26214400) exceeded'],
  ])('passes on status %i with its words (REQ-085)', async (status, message) => {
    await put('talk.wav', WAV);
    const { place } = await serve(whisper, {
      whisper: [{ status, body: { error: { message, type: 'x' } } }],
    });
    await expect(understandAudio.run({ file: 'talk.wav' }, place)).rejects.toThrow(
      `status ${status}: ${message}`,
    );
  });

  test('without any model names what to set', async () => {
    const { place } = await serve([]);
    await expect(understandAudio.run({ file: 'talk.wav' }, place)).rejects.toThrow(
      /^no speech model: set WHISPER_BASE_URL .* or OPENAI_API_KEY, or GEMINI_API_KEY$/,
    );
  });

  test('sends no file that is none, is elsewhere or is too large', async () => {
    const { place, requests } = await serve(whisper);
    await put('../secret.wav', WAV);
    await put('notes.txt', 'text');
    await put('long.wav', Buffer.concat([WAV, Buffer.alloc(26_214_400)]));
    const ask = (file: string) => understandAudio.run({ file }, place);
    await expect(ask('none.wav')).rejects.toThrow('there is no file none.wav');
    await expect(ask('../secret.wav')).rejects.toThrow(/leads out of the folder/);
    await expect(ask('notes.txt')).rejects.toThrow(/notes\.txt is not an audio file by its first bytes/);
    await expect(ask('long.wav')).rejects.toThrow(/recordings may have up to 26\.2 MB/);
    expect(requests).toHaveLength(0);
  });
});
