import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dataToolPlace } from '../fixtures/data-tool-place.ts';
import { png, textImage } from '../fixtures/text-image.ts';
import {
  startWebServices,
  type WebScript,
  type WebServiceName,
  type WebServices,
} from '../fixtures/web-server.ts';
import { analyzeImage } from './analyze-image.ts';
import { readImageText } from './read-image-text.ts';
import { understandAudio } from './understand-audio.ts';
import { analyzeYoutubeVideo, understandVideo } from './understand-video.ts';

const WAV = Buffer.concat([Buffer.from('RIFF'), Buffer.alloc(4), Buffer.from('WAVEfmt some sound')]);

let folder: string;
let files: string;
const started: WebServices[] = [];
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'gaia-media-'));
  files = path.join(folder, 'files');
  await mkdir(files);
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((services) => services.close()));
  await rm(folder, { recursive: true });
});

/** The services, and a place that knows those of `variables` alone: whoever is known is asked. */
async function serve(variables: readonly string[], scripts: Partial<Record<WebServiceName, WebScript>> = {}) {
  const services = await startWebServices(scripts);
  started.push(services);
  const environment = Object.fromEntries(variables.map((name) => [name, services.environment[name]]));
  return {
    ...services,
    place: dataToolPlace({ files, workspace: folder, environment, options: { retries: 0 } }),
  };
}

const put = (name: string, bytes: string | Uint8Array) => writeFile(path.join(files, name), bytes);

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

  const ask = (place: Parameters<typeof understandVideo.run>[1], url = 'abc-DEF_123') =>
    understandVideo.run({ url, question: 'x' }, place);

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
      await expect(ask(place, url)).rejects.toThrow(/names no YouTube video/);
      expect(requests).toHaveLength(0);
    },
  );

  test.each([
    [{ promptFeedback: { blockReason: 'SAFETY' } }, 'gemini gave no answer (SAFETY)'],
    [{ candidates: [{ finishReason: 'SAFETY', index: 0 }] }, 'gemini gave no answer (SAFETY)'],
    [{ candidates: [] }, 'gemini gave no answer (no reason given)'],
    [{ candidates: 'none' }, 'gemini replied something else than its documentation says'],
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
      'Transcript of ./talk.wav:\nThe lamp was lit in eighteen seventy-one.\n\nThe question was: When was it lit?',
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
    await put('talk.dat', Buffer.from('ID3 some sound'));
    const { place, requests } = await serve(whisper);
    await understandAudio.run({ file: 'talk.dat' }, place);
    expect(requests[0]?.body).toContain('filename="talk.mp3"');
  });

  test('uploads to Gemini where that is the model there is (RA-41)', async () => {
    await put('talk.wav', WAV);
    const { place, requests } = await serve(['GEMINI_API_KEY', 'GEMINI_BASE_URL']);
    const { text } = await understandAudio.run({ file: 'talk.wav', question: 'Who speaks?' }, place);
    expect(text).toBe('Three gulls.');
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
    expect(text).toBe('Transcript of ./talk.wav:\nJust words.');
  });

  test('says that nothing is said', async () => {
    await put('talk.wav', WAV);
    const { place } = await serve(whisper, { whisper: [{ body: { text: ' ' } }] });
    expect((await understandAudio.run({ file: 'talk.wav' }, place)).text).toMatch(/^nothing is said in/);
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
    await writeFile(path.join(folder, 'secret.wav'), WAV);
    await put('notes.txt', 'text');
    await put('long.wav', Buffer.concat([WAV, Buffer.alloc(26_214_400)]));
    const ask = (file: string) => understandAudio.run({ file }, place);
    await expect(ask('none.wav')).rejects.toThrow('there is no file none.wav');
    await expect(ask('../secret.wav')).rejects.toThrow(/leads out of the folder/);
    await expect(ask('notes.txt')).rejects.toThrow(/notes\.txt is no audio file by its first bytes/);
    await expect(ask('long.wav')).rejects.toThrow(/recordings of up to 26\.2 MB are sent/);
    expect(requests).toHaveLength(0);
  });
});

describe('analyze_image', () => {
  const vision = ['VISION_BASE_URL', 'VISION_API_KEY'];
  const image = textImage('HELLO');
  const ask = (place: Parameters<typeof analyzeImage.run>[1], file = 'a.png') =>
    analyzeImage.run({ file, question: 'What is it?' }, place);

  test('shows it to an OpenAI-compatible model (SV-12, RA-42)', async () => {
    await put('a.png', image);
    const { place, requests } = await serve(vision);
    expect((await ask(place)).text).toBe('A white lighthouse.');
    const [request] = requests;
    expect(request?.path).toBe('/v1/chat/completions');
    expect(request?.headers.authorization).toBe('Bearer vision-invented-key-4');
    expect(JSON.parse(request?.body ?? '')).toEqual({
      model: 'gpt-5-mini',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${image.toString('base64')}` } },
          ],
        },
      ],
    });
  });

  test('shows it to a model of Ollama’s, in bare base64 (RA-42)', async () => {
    await put('a.png', image);
    const answer = { model: 'm', message: { role: 'assistant', content: 'A word.' }, done: true };
    const { place, environment, requests } = await serve(['GEMINI_API_KEY'], { ollama: [{ body: answer }] });
    const host = new URL(environment.OLLAMA_HOST ?? '').host;
    const local = { ...place.environment, OLLAMA_VISION_MODEL: 'llava', OLLAMA_HOST: host };
    expect((await ask({ ...place, environment: local })).text).toBe('A word.');
    expect(requests[0]?.path).toBe('/api/chat');
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
      model: 'llava',
      stream: false,
      messages: [{ role: 'user', content: 'What is it?', images: [image.toString('base64')] }],
    });
  });

  test('shows it to Gemini where that is the model there is (RA-42)', async () => {
    await put('a.png', image);
    const { place, requests } = await serve(['GEMINI_API_KEY', 'GEMINI_BASE_URL']);
    expect((await ask(place)).text).toBe('Three gulls.');
    expect(JSON.parse(requests[0]?.body ?? '').contents[0].parts[0].inline_data.mime_type).toBe('image/png');
  });

  test.each([
    [
      { choices: [{ message: { content: null, refusal: 'I will not.' } }] },
      'the vision model refused: I will not.',
    ],
    [{ choices: [{ message: { content: null } }] }, 'the vision model gave no answer'],
    [{ choices: [] }, 'vision replied something else than its documentation says'],
  ])('%j is no answer', async (body, message) => {
    await put('a.png', image);
    const { place } = await serve(vision, { vision: [{ body }] });
    await expect(ask(place)).rejects.toThrow(message);
  });

  test.each([
    [
      401,
      'Incorrect API key provided: vision-invented-key-4',
      'Incorrect API key provided: [VISION_API_KEY]',
    ],
    [404, "model 'nope' not found", "model 'nope' not found"],
  ])('passes on status %i, without the key (RA-50, REQ-085)', async (status, message, said) => {
    await put('a.png', image);
    const { place } = await serve(vision, {
      vision: [{ status, body: { error: { message, type: 'x', code: null } } }],
    });
    await expect(ask(place)).rejects.toThrow(`vision answered with status ${status}: ${said}`);
  });

  test('sends nothing that is no image, is too large, or claims to be vast', async () => {
    const { place, requests } = await serve(vision);
    await put('a.png', 'GIF89 is not this');
    await expect(ask(place)).rejects.toThrow(/a\.png is no image by its first bytes/);
    await put('a.png', png(100_000, 1001, Buffer.alloc(0)));
    await expect(ask(place)).rejects.toThrow(/says it has 100100000 pixels/);
    await put('a.png', Buffer.concat([image, Buffer.alloc(15 * 1024 * 1024)]));
    await expect(ask(place)).rejects.toThrow(/images of up to 14\.7 MB are looked at/);
    await expect(ask(place, '../../etc/passwd')).rejects.toThrow(/leads out of the folder/);
    expect(requests).toHaveLength(0);
  });

  test('reads the text in it on this machine where there is no model (RA-42)', async () => {
    await put('a.png', textImage('HELLO HOTEL 14'));
    const { place, requests } = await serve([]);
    const { text, data } = await ask(place);
    expect(text).toMatch(
      /^Text in \.\/a\.png \(confidence \d+ of 100\):\nHELLO HOTEL 14\n\nNo vision model is set/,
    );
    expect(data?.text).toBe('HELLO HOTEL 14');
    expect(requests).toHaveLength(0);
  });

  test('says that there is no text in it', async () => {
    await put('a.png', textImage('    '));
    const { place } = await serve([]);
    expect((await ask(place)).text).toMatch(/^not found: no text in \.\/a\.png\./);
  });

  test('survives an image that only begins like one', async () => {
    await put('a.png', image.subarray(0, 60));
    const { place } = await serve([]);
    await expect(ask(place)).rejects.toThrow(/the text in \.\/a\.png cannot be recognised: its reader ended/);
  });

  test('does not wait for a reader that does not end', async () => {
    const { signal } = new AbortController();
    await expect(readImageText(image, 'a.png', signal, 20)).rejects.toThrow(
      /cannot be recognised: it took longer than 0\.02 s/,
    );
  });

  test('reads text in an agent’s process, under the permission model', async () => {
    await put('a.png', textImage('HELLO HOTEL 14'));
    const root = fileURLToPath(new URL('../../', import.meta.url));
    const module = JSON.stringify(new URL('./analyze-image.ts', import.meta.url).href);
    const code = `const { analyzeImage } = await import(${module});
      const place = { files: ${JSON.stringify(files)}, workspace: ${JSON.stringify(folder)}, environment: {}, options: {}, signal: new AbortController().signal };
      console.log((await analyzeImage.run({ file: 'a.png' }, place)).text);`;
    const readable = [
      ...['core', 'tools', 'node_modules', 'package.json'].map((name) => root + name),
      `${folder}${path.sep}`,
    ];
    const child = spawn(
      process.execPath,
      [
        '--permission',
        '--allow-child-process',
        ...readable.map((name) => `--allow-fs-read=${name}`),
        '--input-type=module',
        '--eval',
        code,
      ],
      { env: { NODE_NO_WARNINGS: '1' }, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await once(child, 'close');
    expect(said).toContain('HELLO HOTEL 14');
  });
});
