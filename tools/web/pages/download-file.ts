import * as z from 'zod';
import type { DataTool } from '../../data-tool.ts';
import { fetchPublic } from '../public-fetch.ts';
import { chooseDownloadName } from './download-name.ts';
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
  async run({ url, file_name: wanted = '' }, context) {
    const { environment, signal } = context;
    return fetchPublic(url, { environment, signal, timeoutMs: DOWNLOAD_TIMEOUT_MS }, async (reply) => {
      const name =
        wanted.trim() === '' ? chooseDownloadName(reply.url, reply.mediaType, reply.disposition) : wanted;
      const { file, bytes } = await saveDownload(context, name, reply.body);
      const type = reply.mediaType === '' ? '' : `, ${reply.mediaType}`;
      return { text: `saved as ${file} (${bytes} bytes${type}) from ${reply.url}`, data: { file, bytes } };
    });
  },
};
