import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { MeshError } from '../../../core/errors.ts';
import type { DataTool } from '../../data-tool.ts';
import { dataTools } from '../../data-tools.ts';
import type { ToolReply, UseTool } from '../solution.ts';

const FILES = fileURLToPath(new URL('../../../config/samples/files/', import.meta.url));
const QUESTIONS = new URL('../../../config/samples/questions.jsonl', import.meta.url);

const sample = z.object({
  task_id: z.string(),
  Question: z.string(),
  Level: z.number(),
  'Final answer': z.string(),
  file_name: z.string(),
  'Annotator Metadata': z.object({
    'Number of steps': z.coerce.number(),
    'Number of tools': z.coerce.number(),
  }),
});
export type Sample = z.infer<typeof sample>;

export function sampleQuestions(): Sample[] {
  const lines = readFileSync(QUESTIONS, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  return lines.map((line) => sample.parse(JSON.parse(line)));
}

export function sampleFile(name: string): string {
  return path.join(FILES, name);
}

export interface InProcess {
  /** The real tools, each with the files of one question only. */
  readonly toolsFor: (taskId: string, fileName: string) => UseTool;
  readonly close: () => void;
}

/** The registry's tools, called as agents call them but without the mesh; no keys, so that none asks a service. */
export function toolsInProcess(): InProcess {
  const root = mkdtempSync(path.join(tmpdir(), 'gaia-mesh-solver-'));
  const stopping = new AbortController();
  const loaded = new Map<string, Promise<DataTool>>();
  return {
    toolsFor(taskId, fileName) {
      const files = path.join(root, taskId);
      mkdirSync(files, { recursive: true });
      if (fileName !== '') copyFileSync(sampleFile(fileName), path.join(files, fileName));
      return async (tool, args): Promise<ToolReply> => {
        const entry = dataTools[tool];
        if (entry === undefined)
          throw new Error(`the solver asked for ${tool}, which the registry does not have`);
        const spec = await (loaded.get(tool) ?? entry.load());
        loaded.set(tool, Promise.resolve(spec));
        const place = {
          workspace: root,
          files,
          store: undefined,
          environment: {},
          options: {},
          taskId,
          signal: stopping.signal,
        };
        return spec.run(spec.input.parse(args), place).catch((error: unknown) => {
          if (!(error instanceof MeshError)) throw error;
          return { error: { code: error.code, message: error.message } };
        });
      };
    },
    close() {
      stopping.abort();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
