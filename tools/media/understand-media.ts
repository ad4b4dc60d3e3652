import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import * as z from 'zod';
import type { DataTool, DataToolContext } from '../data-tool.ts';
import { detectFileKind } from '../files/file-kind.ts';
import { loadTaskFile } from '../files/find-file.ts';
import type { LoadedFile } from '../files/loaded-file.ts';
import { formatMegabytes } from '../web/bounded-body.ts';
import { callService } from '../web/call-service.ts';
import { isMoved, readServiceKey } from '../web/services.ts';
import { parseYoutubeUrl } from '../web/youtube/youtube-id.ts';
import { askGemini, MAX_INLINE_BYTES } from './gemini.ts';

const DEFAULT_MODEL = 'whisper-1';

/** The limit of the service (25 MiB). */
const MAX_AUDIO_BYTES = 26_214_400;
/** Without a GPU, transcription takes about as long as the recording. */
const TRANSCRIBE_TIMEOUT_MS = 600_000;

const input = z.strictObject({
  file: z.string().min(1),
  question: z.string().trim().min(1).max(4000).exactOptional(),
});

const replySchema = z.object({ text: z.string() });

/**
 * Transcribes a recording with an OpenAI-compatible speech model (OpenAI's, or whisper.cpp, faster-whisper and others on the
 * user's own machine), else with Gemini, which also recognises sounds other than speech.
 */
const understandAudio: DataTool<z.infer<typeof input>> = {
  name: 'understand_audio',
  description: 'Writes down what is said in an audio file.',
  input,
  async run({ file, question }, context) {
    const { environment } = context;
    const hasWhisper =
      isMoved('whisper', environment) || readServiceKey('whisper', environment) !== undefined;
    if (!hasWhisper && readServiceKey('gemini', environment) === undefined) {
      throw new MeshError(
        'tool',
        'no speech model: set WHISPER_BASE_URL to an OpenAI-compatible server (whisper.cpp, faster-whisper), or OPENAI_API_KEY, or GEMINI_API_KEY',
      );
    }
    const loaded = await loadTaskFile(context, file);
    const kind = detectFileKind(loaded.bytes);
    if (kind?.kind !== 'audio') {
      throw new MeshError(
        'tool',
        `${loaded.name} is not an audio file by its first bytes: expected mp3, wav, m4a, flac, ogg or webm`,
      );
    }
    const maxBytes = hasWhisper ? MAX_AUDIO_BYTES : MAX_INLINE_BYTES;
    if (loaded.bytes.length > maxBytes) {
      throw new MeshError(
        'tool',
        `${loaded.name} has ${loaded.bytes.length} bytes: recordings may have up to ${formatMegabytes(maxBytes)}`,
      );
    }
    if (!hasWhisper) {
      const asked =
        question ?? 'Write down all that is said, word for word; name the speakers where there are several.';
      const part = {
        inline_data: { mime_type: kind.mediaType, data: Buffer.from(loaded.bytes).toString('base64') },
      };
      const heard = await askGemini([part, { text: asked }], context, 'set WHISPER_BASE_URL');
      return { text: `${heard}\n\n[heard by Gemini]`, data: { by: 'Gemini' } };
    }
    const transcript = await transcribeAudio(loaded, kind, context);
    if (transcript === '') return { text: `no speech was recognised in ${loaded.name}` };
    const asked = question === undefined ? '' : `\n\nThe question was: ${question}`;
    const by = environment.WHISPER_MODEL || DEFAULT_MODEL;
    return {
      text: `Transcript of ${loaded.name} (heard by ${by}):\n${transcript}${asked}`,
      data: { transcript, by },
    };
  },
};

async function transcribeAudio(
  { name, bytes }: LoadedFile,
  { format, mediaType }: { readonly format: string; readonly mediaType: string },
  context: DataToolContext,
): Promise<string> {
  const form = new FormData();
  // Servers read the format from the extension, so it is derived from the bytes.
  form.set('file', new Blob([bytes], { type: mediaType }), `${path.parse(name).name}.${format}`);
  form.set('model', context.environment.WHISPER_MODEL || DEFAULT_MODEL);
  form.set('response_format', 'json');
  const reply = await callService(
    {
      service: 'whisper',
      path: '/audio/transcriptions',
      headers: buildBearer(context.environment),
      form,
      timeoutMs: TRANSCRIBE_TIMEOUT_MS,
    },
    context,
  );
  // Some servers write text regardless of the requested format.
  if (reply.headers.get('content-type')?.startsWith('text/plain')) return reply.text.trim();
  return reply.parse(replySchema).text.trim();
}

/** Returns the authorization header; empty without a key, because local servers need none. */
function buildBearer(environment: DataToolContext['environment']): Record<string, string> {
  const key = readServiceKey('whisper', environment);
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}

const videoInput = z.strictObject({
  url: z.string().min(1).max(2048),
  question: z.string().trim().min(1).max(4000),
});

/** Has a model watch the video at its URL: nothing is downloaded here (SV-15). */
const understandVideo: DataTool<z.infer<typeof videoInput>> = {
  name: 'understand_video',
  description: 'Watches a YouTube video to answer a question.',
  input: videoInput,
  async run({ url, question }, context) {
    const { address } = parseYoutubeUrl(url);
    const parts = [{ file_data: { file_uri: address } }, { text: question }];
    return { text: await askGemini(parts, context, 'youtube_transcript gets what is said without a key') };
  },
};

/** An alias of {@link understandVideo} under the name that some teams use. */
const analyzeYoutubeVideo: DataTool<z.infer<typeof videoInput>> = {
  ...understandVideo,
  name: 'analyze_youtube_video',
};

/** The tools that listen and watch, by name. */
export const mediaTools = {
  understand_audio: understandAudio,
  understand_video: understandVideo,
  analyze_youtube_video: analyzeYoutubeVideo,
};
