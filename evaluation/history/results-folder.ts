import { createHash } from 'node:crypto';
import { closeSync, type Dirent, existsSync, fstatSync, lstatSync, readdirSync, readSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { metricsSchema } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import { openUntrustedFile } from '@gaia-mesh/core/system/files/untrusted-file.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import * as z from 'zod';
import { deriveBatchPaths } from '../plan/batch-places.ts';
import type { ListedItem } from '../report/page-data.ts';
import { fillPage } from '../report/page-html.ts';
import { type ResultFile, readReport } from '../report/report.ts';
import { toOneLine } from '../terminal/table.ts';
import { PageServer } from '../watch/page-server.ts';

/** A file of a folder that can be opened. */
interface FolderItem extends ListedItem, ResultFile {
  readonly kind: ResultFile['kind'];
}

/** The facts of a file that the list shows; undefined for a file whose content does not match its name. */
type ItemHead = Pick<FolderItem, 'kind' | 'question' | 'answer' | 'verdict' | 'setting'> | undefined;

interface FolderList {
  readonly items: readonly FolderItem[];
  /** One phrase for each group of entries left out of the list. */
  readonly left: readonly string[];
}

/** Levels of folders that are searched below the named one; results lie two or three deep. */
const MAX_DEPTH = 5;
const MAX_ENTRIES = 50_000;
const MAX_ITEMS = 500;
/** Maximum bytes of a file that is read for its title. */
const MAX_HEAD_BYTES = 64 * 1024 * 1024;
const MAX_NAME = 80;
const MAX_QUESTION = 200;
const MAX_SENTENCE = 110;
/** Maximum bytes of an archive that is opened for its question, packed and unpacked: a run of one task has some ten kilobytes. */
const MAX_OPENED_BYTES = 1024 * 1024;
const MAX_UNPACKED_BYTES = 16 * 1024 * 1024;
/** Maximum bytes of a journal whose right answers are counted for the list. */
const MAX_JOURNAL_BYTES = 8 * 1024 * 1024;
/** Folders that are not searched: they hold no results, and may hold thousands of files. */
const SKIPPED = new Set(['node_modules', 'workspaces']);
const ARCHIVE = 'run_artifacts.tar.gz';

/**
 * Lists the runs, batches and comparisons in a folder and in the folders below it. It follows no links, so it reads nothing outside the
 * folder. Files whose content does not match their name are left out, and counted in `left`.
 */
export function listFolderItems(folder: string): FolderList {
  const found: Omit<FolderItem, 'id'>[] = [];
  const left = { entries: 0, broken: [] as string[] };
  let waiting: { readonly at: string; readonly depth: number }[] = [{ at: folder, depth: 0 }];
  let entries = 0;
  while (waiting.length > 0) {
    const below: typeof waiting = [];
    for (const { at, depth } of waiting) {
      for (const entry of listEntries(at)) {
        entries += 1;
        if (entries > MAX_ENTRIES) left.entries += 1;
        else if (entry.isDirectory()) {
          const isSkipped = entry.name.startsWith('.') || SKIPPED.has(entry.name);
          if (depth < MAX_DEPTH && !isSkipped)
            below.push({ at: path.join(at, entry.name), depth: depth + 1 });
        } else if (entry.isFile()) {
          const item = readItem(folder, path.join(at, entry.name));
          if (item === 'broken') left.broken.push(path.relative(folder, path.join(at, entry.name)));
          else if (item !== undefined) found.push(item);
        }
      }
    }
    waiting = below;
  }
  const items = found
    .sort((a, b) => b.modifiedMs - a.modifiedMs)
    .slice(0, MAX_ITEMS)
    .map((item) => ({ id: hashItemId(item.file), ...item }));
  return { items, left: describeLeftOut(found.length, left) };
}

/**
 * Reads one file, which may have any name.
 *
 * @throws MeshError `usage` for a file that holds no results of this program
 */
export function readFileItem(file: string): FolderItem {
  const folder = path.dirname(file);
  // A batch that was killed has a plan and no answers yet.
  if (!existsSync(file) && !existsSync(findPlan(file)))
    throw new MeshError('usage', `${file}: there is no such file`);
  const isArchive = /\.(?:tar\.gz|tgz)$/.test(file);
  const item = isArchive
    ? readRunItem(folder, file)
    : file.endsWith('.json')
      ? readJsonItem(folder, file)
      : readAnswersItem(folder, file);
  if (item !== undefined && item !== 'broken') return { id: hashItemId(file), ...item };
  const expected = 'expected an archive of a run, comparison.json, or the answers of a batch';
  throw new MeshError('usage', `${file}: ${expected}`);
}

/** Returns an id that is stable for a file and reveals no path. */
function hashItemId(file: string): string {
  return createHash('sha256').update(file).digest('hex').slice(0, 12);
}

function readJsonItem(folder: string, file: string): Found {
  return readHeadedItem(file.endsWith('.batch.json') ? readBatchItem : readComparisonHead, folder, file);
}

function readAnswersItem(folder: string, file: string): Found {
  return readHeadedItem(readBatchItem, folder, findPlan(file));
}

/** Returns the file of a batch's plan, which stands beside its answers and its journal. */
function findPlan(file: string): string {
  return deriveBatchPaths(file.replace(/\.journal$/, '')).head;
}

function describeLeftOut(
  found: number,
  { entries, broken }: { entries: number; broken: readonly string[] },
): string[] {
  return [
    ...(found > MAX_ITEMS ? [`${found - MAX_ITEMS} older results`] : []),
    ...(entries > 0 ? [`everything after the first ${MAX_ENTRIES} files`] : []),
    ...(broken.length > 0
      ? [`files whose content does not match their name: ${toOneLine(broken.join(', '), 200)}`]
      : []),
  ];
}

function listEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // The folder is not readable, or was deleted in the meantime.
  }
}

type Found = Omit<FolderItem, 'id'> | 'broken' | undefined;

function readItem(folder: string, file: string): Found {
  const name = path.basename(file);
  if (name === ARCHIVE) return readRunItem(folder, file);
  const isOurs = name === 'comparison.json' || (name.endsWith('.batch.json') && !isOfRun(file));
  return isOurs ? readJsonItem(folder, file) : undefined;
}

/** Tells whether a batch belongs to a `bench` run, whose archive beside it has the results. */
function isOfRun(head: string): boolean {
  const folder = path.dirname(head);
  return path.basename(head) === 'results.batch.json' && existsSync(path.join(folder, ARCHIVE));
}

/** Reads the head of an archive from the metrics file beside it; an archive without metrics is listed by its name. */
function readRunItem(folder: string, file: string): Found {
  const own = readBounded(file, 0, () => undefined);
  if (own === undefined) return undefined;
  const metrics = path.join(path.dirname(file), 'metrics.json');
  const { read: head = NAMELESS } = readBounded(metrics, MAX_HEAD_BYTES, readMetricsHead) ?? {};
  const question =
    head.question === '' ? readBounded(file, MAX_OPENED_BYTES, findArchivedQuestion)?.read : head.question;
  const place = formatItemPath(folder, file);
  return { ...head, question: question ?? '', file, place, modifiedMs: own.modifiedMs };
}

const NAMELESS = {
  kind: 'run',
  question: '',
  answer: 'a run without metrics beside it',
  verdict: '',
  setting: '',
} as const satisfies ItemHead;

/** Finds the question of a run of one task in the log of its hub. */
function findArchivedQuestion(archive: Buffer): string | undefined {
  try {
    const unpacked = gunzipSync(archive, { maxOutputLength: MAX_UNPACKED_BYTES }).toString();
    const at = unpacked.indexOf('"event":"task_began"');
    // The first line of a file follows the zeros of its head.
    const start = Math.max(unpacked.lastIndexOf('\n', at), unpacked.lastIndexOf('\0', at)) + 1;
    const line = unpacked.slice(start, unpacked.indexOf('\n', at));
    const { data } = z.looseObject({ question: z.string() }).safeParse(tryParseJson(line));
    return data === undefined ? undefined : toOneLine(data.question, MAX_QUESTION);
  } catch {
    return undefined; // The archive is damaged or too long, which its own page will say.
  }
}

/**
 * Reads a regular file, without blocking on a pipe or following a link. Returns undefined for anything else, and for a file that is too
 * long.
 *
 * @param most maximum bytes of the file; 0 reads nothing and accepts any length
 */
function readBounded<Read>(
  file: string,
  most: number,
  read: (bytes: Buffer) => Read,
): { readonly read: Read; readonly modifiedMs: number } | undefined {
  const descriptor = openUntrustedFile(file);
  if (descriptor === undefined) return undefined;
  try {
    const status = fstatSync(descriptor);
    if (most > 0 && status.size > most) return undefined;
    const bytes = Buffer.alloc(most === 0 ? 0 : status.size);
    const length = readSync(descriptor, bytes, 0, bytes.length, 0);
    return { read: read(bytes.subarray(0, length)), modifiedMs: status.mtimeMs };
  } finally {
    closeSync(descriptor);
  }
}

function readHeadedItem(
  readHead: (bytes: Buffer, file: string) => ItemHead,
  folder: string,
  file: string,
): Found {
  const own = readBounded(file, MAX_HEAD_BYTES, (bytes) => readHead(bytes, file));
  if (own?.read === undefined) return 'broken';
  return { ...own.read, file, place: formatItemPath(folder, file), modifiedMs: own.modifiedMs };
}

const text = z.string();
const headSchema = z.looseObject(
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

function readMetricsHead(json: Buffer): ItemHead {
  const metrics = headSchema.safeParse(tryParseJson(json.toString()));
  if (!metrics.success) return undefined;
  const { team, adapter, engine, status, answer, tasks, answered, normalized_em } = metrics.data;
  const setting = toOneLine(`${team} · ${adapter} · ${engine}`, 2 * MAX_NAME);
  if (tasks === 1)
    return {
      kind: 'run',
      question: '',
      answer: answer === null ? `no answer: ${status}` : toOneLine(answer, MAX_NAME),
      verdict: answer === null || normalized_em === null ? '' : normalized_em === 1 ? 'right' : 'wrong',
      setting,
    };
  return {
    kind: 'run',
    question: `${tasks} tasks`,
    answer: `${answered} of ${tasks} answered`,
    verdict: normalized_em === null ? '' : `${Math.round(100 * normalized_em)} % right`,
    setting,
  };
}

const comparisonSchema = z.looseObject({
  sentence: text.nullable(),
  kind: z.enum(['adapters', 'stacks', 'teams']),
  arms: z.array(z.looseObject({ name: text })).min(1),
});

function readComparisonHead(json: Buffer): ItemHead {
  const parsed = comparisonSchema.safeParse(tryParseJson(json.toString()));
  if (!parsed.success) return undefined;
  const { sentence, kind, arms } = parsed.data;
  return {
    kind: 'comparison',
    question: `${arms.length} ${kind} on the same ${kind === 'teams' ? 'questions' : 'traffic'}`,
    answer: toOneLine(sentence ?? 'no verdict yet', MAX_SENTENCE),
    verdict: '',
    setting: toOneLine(arms.map(({ name }) => name).join(', '), 2 * MAX_NAME),
  };
}

const batchSchema = z.looseObject({
  journal: text.optional(),
  teams: z.array(z.looseObject({ name: text })).min(1),
  questions: z.array(z.unknown()),
  repeat: z.number(),
});

function readBatchItem(json: Buffer, file: string): ItemHead {
  const parsed = batchSchema.safeParse(tryParseJson(json.toString()));
  if (!parsed.success) return undefined;
  const { teams, questions, repeat, journal } = parsed.data;
  const names = teams.map(({ name }) => name);
  const beside = path.join(path.dirname(file), path.basename(journal ?? ''));
  const rights = readBounded(beside, MAX_JOURNAL_BYTES, countRight)?.read;
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

function formatItemPath(folder: string, file: string): string {
  return toOneLine(path.relative(folder, file) || path.basename(file), 200);
}

interface ServedFolder {
  readonly folder: string;
  /** A file that is listed in addition to those of the folder; it may have any name. */
  readonly item: FolderItem | undefined;
  readonly port: number;
}

/** Serves a folder of results: the list of its items, and a page for each. */
export async function serveFolder({ folder, item: first, port }: ServedFolder): Promise<PageServer> {
  const items = new ServedItems(folder, first);
  return PageServer.start(port, async (request) => {
    if (request.path === '') {
      const { items: found, left } = items.list();
      const listed = found.map(({ file: _file, ...item }) => item);
      return fillPage({ kind: 'folder', title: folder, items: listed, left });
    }
    const [, id = ''] = /^item\/(\w+)\/$/.exec(request.path) ?? [];
    const item = items.find(id);
    return item === undefined ? undefined : fillPage(await readReport(item), true);
  });
}

class ServedItems {
  readonly #folder: string;
  readonly #first: FolderItem | undefined;
  #known = new Map<string, FolderItem>();

  constructor(folder: string, first: FolderItem | undefined) {
    this.#folder = folder;
    this.#first = first;
  }

  list(): FolderList {
    const list = listFolderItems(this.#folder);
    const first = this.#first;
    const isThere = first === undefined || list.items.some(({ id }) => id === first.id);
    const items = isThere ? list.items : [first, ...list.items];
    this.#known = new Map(items.map((item) => [item.id, item]));
    return { ...list, items };
  }

  /** Finds an item by its id. The folder is listed again only if the item changed or is unknown. */
  find(id: string): FolderItem | undefined {
    const known = this.#known.get(id);
    if (known !== undefined && lstatSync(known.file, { throwIfNoEntry: false })?.mtimeMs === known.modifiedMs)
      return known;
    return this.list().items.find((item) => item.id === id);
  }
}
