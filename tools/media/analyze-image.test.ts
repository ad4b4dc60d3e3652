import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { describe, expect, test } from 'vitest';
import { put, serve, useMediaPlace } from '../fixtures/media-place.ts';
import { png, textImage } from '../fixtures/text-image.ts';
import { analyzeImage } from './analyze-image.ts';
import { readImageText } from './read-image-text.ts';

useMediaPlace();

describe('analyze_image', () => {
  const vision = ['VISION_BASE_URL', 'VISION_API_KEY'];
  const image = textImage('HELLO');
  const ask = (context: Parameters<typeof analyzeImage.run>[1], file = 'a.png') =>
    analyzeImage.run({ file, question: 'What is it?' }, context);

  test('shows it to an OpenAI-compatible model (SV-12, RA-42)', async () => {
    await put('a.png', image);
    const { place, requests } = await serve(vision);
    expect((await ask(place)).text).toBe('A white lighthouse.\n\n[seen by gpt-5-mini]');
    const [request] = requests;
    expect(request?.path).toBe('/v1/chat/completions');
    expect(request?.headers.authorization).toBe('Bearer vision-invented-key-4');
    expect(JSON.parse(request?.body ?? '')).toEqual({
      model: 'gpt-5-mini',
      stream: true,
      stream_options: { include_usage: true },
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

  test('shows it to the agent’s own model, and says so; one that takes no images is asked once, then the text is recognised', async () => {
    await put('a.png', image);
    const { place, requests } = await serve([]);
    const seen: unknown[] = [];
    const sees = {
      name: 'seeing',
      chat: (request: unknown) => {
        seen.push(request);
        return Promise.resolve({ content: 'It says HELLO.', toolCalls: [], finish: 'stop' as const });
      },
    };
    expect(await ask({ ...place, model: sees })).toEqual({
      text: "It says HELLO.\n\n[seen by the agent's own model]",
      data: { by: "the agent's own model" },
    });
    const images = [{ mediaType: 'image/png', base64: image.toString('base64') }];
    expect(seen).toEqual([{ messages: [{ role: 'user', content: 'What is it?', images }] }]);

    let asked = 0;
    const isBlind = {
      name: 'blind',
      chat: () => {
        asked++;
        return Promise.reject(new MeshError('engine', 'the server says: image input is not supported'));
      },
    };
    for (let call = 0; call < 2; call++) {
      const { text, data } = await ask({ ...place, model: isBlind });
      expect(text).toMatch(
        /HELLO[\s\S]*recognition on this machine[\s\S]*agent's own model did not look at it/,
      );
      expect(data).toMatchObject({
        by: 'text recognition',
        not_shown: expect.stringContaining('is not supported'),
      });
    }
    expect([asked, requests.length]).toEqual([1, 0]);
  });

  test('shows it to Gemini where that is the model there is (RA-42)', async () => {
    await put('a.png', image);
    const { place, requests } = await serve(['GEMINI_API_KEY', 'GEMINI_BASE_URL']);
    expect((await ask(place)).text).toBe('Three gulls.\n\n[seen by Gemini]');
    expect(JSON.parse(requests[0]?.body ?? '').contents[0].parts[0].inline_data.mime_type).toBe('image/png');
  });

  test.each([
    [
      { choices: [{ message: { content: null, refusal: 'I will not.' } }] },
      'refused to answer (content filter)',
    ],
    [{ choices: [{ message: { content: null } }] }, 'the vision model gave no answer'],
    [{ choices: [] }, 'expected choices'],
  ])('%j is no answer', async (body, message) => {
    await put('a.png', image);
    const { place } = await serve(vision, { vision: [{ body }] });
    await expect(ask(place)).rejects.toThrow(message);
  });

  test.each([
    [
      401,
      'Incorrect API key provided: vision-invented-key-4',
      'refused the key (HTTP 401: Incorrect API key provided: [key])',
    ],
    [404, "model 'nope' not found", "has no model gpt-5-mini (model 'nope' not found)"],
  ])('passes on status %i, without the key (RA-50, REQ-085)', async (status, message, said) => {
    await put('a.png', image);
    const { place } = await serve(vision, {
      vision: [{ status, body: { error: { message, type: 'x', code: null } } }],
    });
    await expect(ask(place)).rejects.toThrow(said);
  });

  test('sends nothing that is no image, is too large, or claims to be vast', async () => {
    const { place, requests } = await serve(vision);
    await put('a.png', 'GIF89 is not this');
    await expect(ask(place)).rejects.toThrow(/a\.png is not an image by its first bytes/);
    await put('a.png', png(100_000, 1001, Buffer.alloc(0)));
    await expect(ask(place)).rejects.toThrow(/says it has 100100000 pixels/);
    await put('a.png', Buffer.concat([image, Buffer.alloc(15 * 1024 * 1024)]));
    await expect(ask(place)).rejects.toThrow(/images may have up to 14\.7 MB/);
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
    await expect(ask(place)).rejects.toThrow(/the text in \.\/a\.png cannot be recognised: it failed/);
  });

  test('does not wait for a reader that does not end', async () => {
    const { signal } = new AbortController();
    await expect(readImageText(image, 'a.png', signal, 20)).rejects.toThrow(
      /cannot be recognised: it took longer than 0\.02 s/,
    );
  });

  test('reads text in an agent’s process, under the permission model', async () => {
    const { files, workspace } = (await serve([])).place;
    await put('a.png', textImage('HELLO HOTEL 14'));
    const root = fileURLToPath(new URL('../../', import.meta.url));
    const module = JSON.stringify(new URL('./analyze-image.ts', import.meta.url).href);
    const code = `const { analyzeImage } = await import(${module});
      const place = { files: ${JSON.stringify(files)}, workspace: ${JSON.stringify(workspace)}, environment: {}, options: {}, signal: new AbortController().signal };
      console.log((await analyzeImage.run({ file: 'a.png' }, place)).text);`;
    const readable = [
      ...['core', 'tools', 'node_modules', 'package.json'].map((name) => root + name),
      `${workspace}${path.sep}`,
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
