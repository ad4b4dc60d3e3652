import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { readRecording } from '@gaia-mesh/core/recording/read-archive.ts';
import { formatRecording, RECORDING_FILE, type Recording } from '@gaia-mesh/core/recording/recording.ts';
import { writeArchive } from '@gaia-mesh/core/run/archive-run.ts';
import { sampleHeader } from '@gaia-mesh/core/testing/sample-header.ts';
import { writeParquet } from '@gaia-mesh/evaluation/export/parquet/write-parquet.ts';
import { readQuestions, readTaskFile } from '@gaia-mesh/evaluation/questions/read-questions.ts';
import { readWtq } from '@gaia-mesh/evaluation/questions/wtq-questions.ts';
import { listTeamFiles, loadTeam } from '@gaia-mesh/evaluation/teams/load-team.ts';
import { buildToolCalls, readJson } from '@gaia-mesh/tools/engines/replies/json-reply.ts';
import { readConfined } from '@gaia-mesh/tools/files/read-confined.ts';
import type { Reading } from '@gaia-mesh/tools/files/reading/reading.ts';
import {
  docxOf,
  docxParagraph,
  pdfOf,
  pdfText,
  pptxOf,
  shapeOf,
  styledXlsx,
  zipOf,
} from '@gaia-mesh/tools/files/testing/documents.ts';
import fc from 'fast-check';
import * as z from 'zod';
import { applyDamages, damages } from './testing/damage.ts';
import { fuzz, RUNS, tryReading } from './testing/fuzz.ts';

/** A reader of foreign bytes, with good samples of them. */
interface Reader {
  readonly name: string;
  readonly samples: () => Promise<readonly Uint8Array[]>;
  /** Reads the bytes in a folder of its own; only a MeshError may refuse them. */
  readonly read: (bytes: Buffer, folder: string) => unknown;
}

/** Damages samples and has them read. */
function tryReader({ name, samples, read }: Reader, runs = RUNS): void {
  const cases = fc.record({ sample: fc.nat(100), other: fc.nat(100), list: damages });
  fuzz(
    name,
    cases,
    async () => {
      const good = await samples();
      const sampleAt = (index: number) => good[index % good.length] ?? new Uint8Array();
      return ({ sample, other, list }) => {
        const bytes = applyDamages(sampleAt(sample), sampleAt(other), list);
        return useFolder((folder) => tryReading(name, bytes, () => read(bytes, folder)));
      };
    },
    runs,
  );
}

async function useFolder(work: (folder: string) => Promise<unknown>): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-fuzz-'));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeSample(folder: string, name: string, bytes: Uint8Array): string {
  const file = path.join(folder, name);
  writeFileSync(file, bytes);
  return file;
}

/** Damages samples and has each read as a file of that name. */
function tryFileReader(
  name: string,
  fileName: string,
  samples: () => Promise<readonly (Uint8Array | string)[]>,
  read: (file: string, folder: string) => unknown,
): void {
  tryReader({
    name: `reader:${name}`,
    samples: async () => (await samples()).map((sample) => Buffer.from(sample)),
    read: (bytes, folder) => read(writeSample(folder, fileName, bytes), folder),
  });
}

const packet = { task_id: 't', token_used: 0, ts: 0, payload: { text: 'né ✅' } };
const recording: Recording = {
  header: sampleHeader,
  packets: [
    { cause: null, tool_us: 0, packet: { ...packet, type: 'doc_init', from: 'hub', id: 'hub-1' } },
    { cause: 'hub-1', tool_us: 2, packet: { ...packet, type: 'said', from: '0', id: '0-1' } },
    {
      cause: '0-1',
      inferred: true,
      tool_us: null,
      packet: { ...packet, type: 'said', from: '1', id: '1-1' },
    },
  ],
};

async function buildArchive(): Promise<Buffer> {
  let bytes = Buffer.alloc(0);
  await useFolder(async (folder) => {
    const workspaces = path.join(folder, 'workspaces');
    mkdirSync(path.join(workspaces, '0'), { recursive: true });
    writeFileSync(path.join(workspaces, '0', 'agent.log'), '{"dir":"sent"}\n');
    writeFileSync(path.join(workspaces, RECORDING_FILE), formatRecording(recording).join(''));
    const file = path.join(folder, 'a.tar.gz');
    writeFileSync(path.join(workspaces, 'metrics.json'), '{}');
    await writeArchive(file, workspaces, { run_id: 'r' });
    bytes = readFileSync(file);
  });
  return bytes;
}

const TASKS = [
  '{"task_id":7,"question":"q","document":"d","answer":1.5,"aliases":[2,"two"],"level":3,"source":"s"}',
  '{"task_id":"b","question":"q","document":"","aliases":null,"more":true}\n',
].join('\n');
const QUESTIONS = [
  '{"task_id":"a","Question":"How many?","Level":1,"Final answer":"3","file_name":"a.xlsx"}',
  '{"task_id":"b","question":"Who?","answer":"Ada","aliases":["Lovelace"]}\n',
].join('\n');
const WTQ_QUESTIONS = '{"id":"nt-0","question":"who won?","table":"t/1","answers":["Ada"]}\n';
const WTQ_TABLES = '{"id":"t/1","rows":[["Name","Place"],["Ada","1"],["Bob","2, \\"3\\""]]}\n';

const SHEET =
  '<row r="1"><c r="A1" s="1" t="inlineStr"><is><t>n</t></is></c></row><row r="2"><c r="A2"><v>4</v></c></row>';
const PAGE =
  '<html><head><title>t</title></head><body><h1>h</h1><table><tr><td>1</td></tr></table></body></html>';

/** Bounds for a document of a few kB. */
const BOUNDS = { ms: 10_000, megabytes: 768, reuse: 100 };
const neverEnds = new AbortController().signal;

/** Builds the Parquet file of a recording's packets. */
async function buildParquet(): Promise<Uint8Array> {
  let bytes = new Uint8Array();
  await useFolder(async (folder) => {
    const file = writeSample(folder, 'a.jsonl', Buffer.from(formatRecording(recording).join('')));
    await writeParquet(file, folder);
    bytes = new Uint8Array(readFileSync(path.join(folder, 'packets.parquet')));
  });
  return bytes;
}

/** Reads damaged documents in a process, as agents do: a library may throw where no caller catches. */
function tryDocumentReader(
  name: string,
  fileName: string,
  reading: Reading,
  sample: () => Promise<Uint8Array>,
): void {
  const read = (bytes: Buffer) =>
    readConfined({ name: fileName, bytes: new Uint8Array(bytes) }, reading, neverEnds, BOUNDS);
  // A damaged document mostly ends the process that reads it.
  tryReader({ name: `document:${name}`, samples: async () => [await sample()], read }, Math.ceil(RUNS / 5));
}

const replySchema = z.object({
  answer: z.string(),
  steps: z.array(z.object({ tool: z.string() })).optional(),
});
const REPLIES = [
  '{"answer":"3 October 1868","steps":[{"tool":"search"}]}',
  '```json\n{"answer":"é \\ud83d\\ude00"}\n```',
  'I think that {"answer": "x"} is right.',
  '<tool_call>{"name":"a","arguments":{"__proto__":1}}</tool_call>',
];

// The readers of external data besides packets: archives, recordings, files of users and their documents, model replies.
tryFileReader('archive', 'a.tar.gz', async () => [await buildArchive()], readRecording);
// The damage lies inside, where the packing does not hide it.
tryReader({
  name: 'reader:archive-inside',
  samples: async () => [gunzipSync(await buildArchive())],
  read: (bytes, folder) => readRecording(writeSample(folder, 'a.tar.gz', gzipSync(bytes, { level: 1 }))),
});
tryFileReader('recording', 'a.jsonl', async () => [formatRecording(recording).join('')], readRecording);
tryFileReader(
  'tasks',
  'a.jsonl',
  async () => [TASKS],
  (file) => {
    for (const { document } of readTaskFile(file).tasks) if (document.length > 1e6) return;
  },
);
tryFileReader(
  'questions',
  'a.jsonl',
  async () => [QUESTIONS],
  (file) => readQuestions(file),
);
tryFileReader(
  'packed-questions',
  'a.jsonl.gz',
  async () => [gzipSync(QUESTIONS)],
  (file) => readQuestions(file),
);
tryFileReader(
  'wtq-questions',
  'q.jsonl',
  async () => [WTQ_QUESTIONS],
  (file, folder) =>
    readWtq(file, writeSample(folder, 't.jsonl', Buffer.from(WTQ_TABLES)), {
      folder: path.join(folder, 'tables'),
    }),
);
tryFileReader(
  'wtq-tables',
  't.jsonl',
  async () => [WTQ_TABLES],
  (file, folder) =>
    readWtq(writeSample(folder, 'q.jsonl', Buffer.from(WTQ_QUESTIONS)), file, {
      folder: path.join(folder, 'tables'),
    }),
);
tryFileReader(
  'team',
  'a.yaml',
  async () => [...listTeamFiles().values()].map((file) => readFileSync(file)),
  (file) => loadTeam(file),
);
tryReader({
  name: 'reader:model-reply',
  samples: async () => REPLIES.map((reply) => Buffer.from(reply)),
  read: (bytes) => [
    readJson(bytes.toString(), replySchema),
    buildToolCalls([{ name: 'tool', arguments: bytes.toString() }], 0),
  ],
});
tryDocumentReader('pdf', 'a.pdf', { kind: 'pdf' }, async () => pdfOf([pdfText(['one']), pdfText(['two'])]));
tryDocumentReader('docx', 'a.docx', { kind: 'docx' }, () => docxOf(docxParagraph('x', 'Heading1')));
tryDocumentReader('pptx', 'a.pptx', { kind: 'pptx' }, () => pptxOf([{ shapes: shapeOf(['x']), notes: 'y' }]));
tryDocumentReader('xlsx', 'a.xlsx', { kind: 'spreadsheet' }, () => styledXlsx(SHEET, []));
tryDocumentReader('csv', 'a.csv', { kind: 'spreadsheet' }, async () => Buffer.from('a,"b\nc",d\n1,2,3\n'));
tryDocumentReader('zip', 'a.zip', { kind: 'zip', entry: 'a.csv' }, () => zipOf({ 'a.csv': 'a,b\n1,2\n' }));
tryDocumentReader('parquet', 'a.parquet', { kind: 'rows' }, buildParquet);
tryDocumentReader('rows', 'a.csv', { kind: 'rows' }, async () => Buffer.from('task_id,question\n1,"W""?"\n'));
tryDocumentReader('html', 'a.html', { kind: 'html' }, async () => Buffer.from(PAGE));
