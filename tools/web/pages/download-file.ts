import * as z from 'zod';
import type { DataTool } from '../../data-tool.ts';
import { publicFetch } from '../public-fetch.ts';
import { nameOf } from './download-name.ts';
import { saveDownload } from './save-download.ts';

const DOWNLOAD_TIMEOUT_MS = 120_000;

const input = z.strictObject({
  url: z.string().min(1),
  file_name: z.string().max(255).exactOptional(),
});

export const downloadFile: DataTool<z.infer<typeof input>> = {
  name: 'download_file',
  description: 'Downloads a file from the web.',
  input,
  async run({ url, file_name: wanted = '' }, place) {
    const { environment, signal } = place;
    return publicFetch(url, { environment, signal, timeoutMs: DOWNLOAD_TIMEOUT_MS }, async (reply) => {
      const name = wanted.trim() === '' ? nameOf(reply.url, reply.mediaType, reply.disposition) : wanted;
      const { file, bytes } = await saveDownload(place, name, reply.body);
      const type = reply.mediaType === '' ? '' : `, ${reply.mediaType}`;
      return { text: `saved as ${file} (${bytes} bytes${type}) from ${reply.url}`, data: { file, bytes } };
    });
  },
};
