import * as z from 'zod';
import type { DataTool } from '../data-tool.ts';
import { shown, taskFiles } from './find-file.ts';

const input = z.strictObject({});

export const listFiles: DataTool<z.infer<typeof input>> = {
  name: 'list_files',
  description: 'Lists the files of the task, downloads included.',
  input,
  async run(_input, { files }) {
    const { names, isWhole } = await taskFiles(files);
    if (names.length === 0)
      return {
        text: 'No files found: the question came with none, and none were fetched.',
        data: { files: [] },
      };
    const more = isWhole ? [] : ['[there are more: only the first were looked at]'];
    return {
      text: ['Files found:', ...names.map(shown), ...more].join('\n'),
      data: { files: names.map((name) => name.toWellFormed()) },
    };
  },
};
