import { createHash } from 'node:crypto';
import { closeSync, existsSync, fstatSync, lstatSync, readdirSync, readSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { metricsSchema } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import { readRunEvents } from '@gaia-mesh/core/run/run-event.ts';
import { openUntrustedFile } from '@gaia-mesh/core/system/files/untrusted-file.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import * as z from 'zod';
import { blameSchema } from '../blame/blame-file.ts';
import { parseComparison } from '../compare/comparison-file.ts';
import { formatHeadline } from '../compare/comparison-text.ts';
import { deriveBatchPaths } from '../plan/batch-places.ts';
import type { FolderPlace } from '../report/page-data.ts';
import { fillPage } from '../report/page-html.ts';
import { type ResultFile, readReport } from '../report/report.ts';
import { toOneLine } from '../terminal/table.ts';
import { describeFinding } from '../viewer/teams/finding.ts';
import { PageServer } from '../watch/page-server.ts';

type ListedItem = FolderPlace['items'][number];

/** A file of a folder that can be opened. */
interface FolderItem extends ListedItem, ResultFile {
  readonly kind: ResultFile['kind'];
}

/** The facts of a file that the list shows. */
type ItemFacts = Pick<FolderItem, 'kind' | 'question' | 'answer' | 'verdict' | 'setting'>;

/** Levels of folders that are searched below the named one; results lie two or three deep. */
const MAX_DEPTH = 5;
const MAX_ENTRIES = 50_000;
const MAX_ITEMS = 500;
/** Maximum bytes of a file that is read for its title. */
const MAX_HEAD_BYTES = 64 * 1024 * 1024;
const MAX_NAME = 80;
const MAX_QUESTION = 200;
/** Maximum bytes of an archive that is opened for its question, packed and unpacked: a run of one task has some ten kilobytes. */
const MAX_OPENED_BYTES = 1024 * 1024;
const MAX_UNPACKED_BYTES = 16 * 1024 * 1024;
/** Maximum bytes of a journal whose right answers are counted for the list. */
const MAX_JOURNAL_BYTES = 8 * 1024 * 1024;
/** Folders that are not searched: they hold no results, and may hold thousands of files. */
const SKIPPED = /^(?:\..*|node_modules|workspaces)$/;
const ARCHIVE = 'run_artifacts.tar.gz';

/**
 * Lists the results in a folder and in the folders below it. It follows no links, so it reads nothing outside the
 * folder. Files whose content does not match their name are left out, and named in `left`.
 */
function listFolderItems(folder: string): Pick<FolderPlace, 'left'> & { items: FolderItem[] } {
  const found: FolderItem[] = [];
  const left: string[] = [];
  const broken: string[] = [];
  let entries = 0;
  for (const file of listFiles(folder, 0)) {
    entries += 1;
    if (entries > MAX_ENTRIES) {
      left.push(`everything after the first ${MAX_ENTRIES} files`);
      break;
    }
    if (!isListed(file)) continue;
    const item = readItem(folder, file);
    if (item === undefined) broken.push(path.relative(folder, file));
    else found.push(item);
  }
  if (found.length > MAX_ITEMS) left.push(`${found.length - MAX_ITEMS} older results`);
  if (broken.length > 0)
    left.push(`files whose content does not match their name: ${toOneLine(broken.join(', '), 200)}`);
  return { items: found.sort((a, b) => b.modifiedMs - a.modifiedMs).slice(0, MAX_ITEMS), left };
}

/** Lists the regular files of a folder and of those below it. */
function* listFiles(folder: string, depth: number): Generator<string> {
  for (const entry of listEntries(folder)) {
    const file = path.join(folder, entry.name);
    if (entry.isFile()) yield file;
    else if (entry.isDirectory() && depth < MAX_DEPTH && !SKIPPED.test(entry.name))
      yield* listFiles(file, depth + 1);
  }
}

function listEntries(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // The folder is not readable, or was deleted in the meantime.
  }
}

/** Tells by its name whether a file is a result. The batch of a `bench` run has its results in the archive beside it. */
function isListed(file: string): boolean {
  const name = path.basename(file);
  if (name === 'results.batch.json') return !existsSync(path.join(path.dirname(file), ARCHIVE));
  return [ARCHIVE, 'comparison.json', 'blame.json'].includes(name) || name.endsWith('.batch.json');
}

const isArchive = (file: string) => /\.(?:tar\.gz|tgz)$/.test(file);

/**
 * Reads one file, which may have any name.
 *
 * @throws MeshError `usage` for a file that holds no results of this program
 */
export function readFileItem(file: string): FolderItem {
  // The plan of a batch stands beside its answers and its journal. A batch that was killed has no answers yet.
  const held =
    isArchive(file) || file.endsWith('.json') ? file : deriveBatchPaths(file.replace(/\.journal$/, '')).head;
  if (!existsSync(file) && !existsSync(held)) throw new MeshError('usage', `${file}: there is no such file`);
  const item = readItem(path.dirname(file), held);
  if (item !== undefined) return item;
  const expected = 'expected an archive of a run, comparison.json, blame.json, or the answers of a batch';
  throw new MeshError('usage', `${file}: ${expected}`);
}

/** Reads the facts of a file; undefined for a link or a pipe, and for a file whose content does not match its name. */
function readItem(folder: string, file: string): FolderItem | undefined {
  const status = lstatSync(file, { throwIfNoEntry: false });
  if (status?.isFile() !== true) return undefined;
  const facts = isArchive(file) ? readRunFacts(file) : readJsonFacts(file);
  if (facts === undefined) return undefined;
  return {
    // The id is stable for a file and reveals no path.
    id: createHash('sha256').update(file).digest('hex').slice(0, 12),
    ...facts,
    file,
    place: toOneLine(path.relative(folder, file) || path.basename(file), 200),
    modifiedMs: status.mtimeMs,
  };
}

function readJsonFacts(file: string): ItemFacts | undefined {
  const text = readBounded(file, MAX_HEAD_BYTES)?.toString();
  if (text === undefined) return undefined;
  if (file.endsWith('.batch.json')) return readBatchFacts(text, file);
  return readComparisonFacts(text, file) ?? readBlameFacts(text);
}

/** Reads the facts of an archive from the metrics file beside it; an archive without metrics is listed by its name. */
function readRunFacts(file: string): ItemFacts {
  const metrics = readBounded(path.join(path.dirname(file), 'metrics.json'), MAX_HEAD_BYTES);
  const known = runSchema.safeParse(tryParseJson(metrics?.toString() ?? '')).data;
  const own = { kind: 'run', question: '', verdict: '', setting: '' } as const;
  if (known === undefined)
    return { ...own, question: readArchivedQuestion(file), answer: 'a run without metrics beside it' };
  const { team, adapter, engine, status, answer, tasks, answered, normalized_em: right } = known;
  const setting = toOneLine(`${team} · ${adapter} · ${engine}`, 2 * MAX_NAME);
  if (tasks > 1)
    return {
      ...own,
      setting,
      question: `${tasks} tasks`,
      answer: `${answered} of ${tasks} answered`,
      verdict: right === null ? '' : `${Math.round(100 * right)} % right`,
    };
  return {
    ...own,
    setting,
    question: readArchivedQuestion(file),
    answer: answer === null ? `no answer: ${status}` : toOneLine(answer, MAX_NAME),
    verdict: answer === null || right === null ? '' : right === 1 ? 'right' : 'wrong',
  };
}

/** Reads the question of a run of one task from the log of its hub; an empty text if it is not found. */
function readArchivedQuestion(file: string): string {
  const archive = readBounded(file, MAX_OPENED_BYTES);
  if (archive === undefined) return '';
  try {
    const unpacked = gunzipSync(archive, { maxOutputLength: MAX_UNPACKED_BYTES }).toString();
    const at = unpacked.indexOf('"event":"task_began"');
    // The first line of a file follows the zeros of its head.
    const start = Math.max(unpacked.lastIndexOf('\n', at), unpacked.lastIndexOf('\0', at)) + 1;
    const [began] = readRunEvents(unpacked.slice(start, unpacked.indexOf('\n', at)), ['task_began']);
    return toOneLine(began?.question ?? '', MAX_QUESTION);
  } catch {
    return ''; // The archive is damaged or too long, which its own page will say.
  }
}

/**
 * Reads a regular file of at most `most` bytes, without blocking on a pipe or following a link. Returns undefined for anything else.
 */
function readBounded(file: string, most: number): Buffer | undefined {
  const descriptor = openUntrustedFile(file);
  if (descriptor === undefined) return undefined;
  try {
    const { size } = fstatSync(descriptor);
    if (size > most) return undefined;
    const bytes = Buffer.alloc(size);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, size, 0));
  } finally {
    closeSync(descriptor);
  }
}

const text = z.string();
const runSchema = z.looseObject(
  metricsSchema.pick({
    team: true,
    adapter: true,
    engine: true,
    status: true,
    answer: true,
    tasks: true,
    answered: true,
    normalized_em: true,
  }).shape,
);

/** Reads a comparison, which the list describes by the title of its page. */
function readComparisonFacts(json: string, where: string): ItemFacts | undefined {
  try {
    const file = parseComparison(json, where);
    const { kind, arms } = file;
    return {
      kind: 'comparison',
      question: `${arms.length} ${kind} on the same ${kind === 'teams' ? 'questions' : 'traffic'}`,
      answer: toOneLine(kind === 'teams' ? describeFinding(file) : formatHeadline(file), MAX_QUESTION),
      verdict: '',
      setting: toOneLine(arms.map(({ name }) => name).join(', '), 2 * MAX_NAME),
    };
  } catch (error) {
    if (error instanceof MeshError) return undefined;
    throw error;
  }
}

/** Reads a search for the message that made an answer wrong. */
function readBlameFacts(json: string): ItemFacts | undefined {
  const { data } = blameSchema.safeParse(tryParseJson(json));
  if (data === undefined) return undefined;
  const { question, headline, correct, team, engine } = data;
  return {
    kind: 'blame',
    question: toOneLine(question, MAX_QUESTION),
    answer: toOneLine(headline, MAX_QUESTION),
    verdict: correct ? 'right' : 'wrong',
    setting: toOneLine(`${team} · ${engine}`, 2 * MAX_NAME),
  };
}

const batchSchema = z.looseObject({
  journal: text.optional(),
  teams: z.array(z.looseObject({ name: text })).min(1),
  questions: z.array(z.unknown()),
  repeat: z.number(),
});

function readBatchFacts(json: string, file: string): ItemFacts | undefined {
  const parsed = batchSchema.safeParse(tryParseJson(json));
  if (!parsed.success) return undefined;
  const { teams, questions, repeat, journal } = parsed.data;
  const names = teams.map(({ name }) => name);
  const beside = path.join(path.dirname(file), path.basename(journal ?? ''));
  const answers = readBounded(beside, MAX_JOURNAL_BYTES);
  const rights = answers === undefined ? undefined : countRight(answers);
  const [best, most = 0] = [...(rights ?? [])].toSorted(([, a], [, b]) => b - a)[0] ?? [];
  return {
    kind: 'batch',
    question: `${questions.length} questions${repeat > 1 ? `, ${repeat} times` : ''}`,
    answer: names.length === 1 || best === undefined ? '' : `most by ${toOneLine(best, MAX_NAME)}`,
    verdict: rights === undefined ? '' : `${most} right`,
    setting: toOneLine(names.join(', '), 2 * MAX_NAME),
  };
}

const attemptSchema = z.looseObject({ team: text, cycle: z.number(), correct: z.boolean().nullable() });

/** Counts the right first attempts of each team in a journal. */
function countRight(journal: Buffer): Map<string, number> {
  const rights = new Map<string, number>();
  for (const line of journal.toString().split('\n')) {
    const { data } = attemptSchema.safeParse(tryParseJson(line));
    if (data?.cycle === 1)
      rights.set(data.team, (rights.get(data.team) ?? 0) + Number(data.correct === true));
  }
  return rights;
}

interface ServedFolder {
  readonly folder: string;
  /** A file that is listed in addition to those of the folder; it may have any name. */
  readonly item: FolderItem | undefined;
  readonly port: number;
}

/** Serves a folder of results: the list of its items, and a page for each. */
export async function serveFolder({ folder, item: first, port }: ServedFolder): Promise<PageServer> {
  let known = new Map<string, FolderItem>();
  const list = () => {
    const { items, left } = listFolderItems(folder);
    if (first !== undefined && items.every(({ id }) => id !== first.id)) items.unshift(first);
    known = new Map(items.map((item) => [item.id, item]));
    return { items, left };
  };
  /** Finds an item by its id. The folder is listed again only if the item changed or is unknown. */
  const find = (id: string) => {
    const item = known.get(id);
    if (item === undefined || lstatSync(item.file, { throwIfNoEntry: false })?.mtimeMs !== item.modifiedMs)
      list();
    return known.get(id);
  };
  return PageServer.start(port, async ({ path: place }) => {
    if (place === '') {
      const { items, left } = list();
      return fillPage({
        kind: 'folder',
        title: folder,
        items: items.map(({ file: _file, ...item }) => item),
        left,
      });
    }
    const item = find(/^item\/(\w+)\/$/.exec(place)?.[1] ?? '');
    return item === undefined ? undefined : fillPage(await readReport(item), true);
  });
}
