import * as z from 'zod';
import type { DataTool } from '../data-tool.ts';
import { formatYoutubeUrl, parseYoutubeId } from '../web/youtube/youtube-id.ts';
import { askGemini } from './gemini.ts';

const input = z.strictObject({
  url: z.string().min(1).max(2048),
  question: z.string().trim().min(1).max(4000),
});

/** Has a model watch the video at its URL: nothing is downloaded here (SV-15). */
export const understandVideo: DataTool<z.infer<typeof input>> = {
  name: 'understand_video',
  description: 'Watches a YouTube video to answer a question.',
  input,
  async run({ url, question }, context) {
    const address = formatYoutubeUrl(parseYoutubeId(url));
    const parts = [{ file_data: { file_uri: address } }, { text: question }];
    return { text: await askGemini(parts, context, 'youtube_transcript gets what is said without a key') };
  },
};

/** An alias of {@link understandVideo} under the name that some teams use. */
export const analyzeYoutubeVideo: DataTool<z.infer<typeof input>> = {
  ...understandVideo,
  name: 'analyze_youtube_video',
};
