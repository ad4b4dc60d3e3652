import { createHash } from 'node:crypto';
import { type Dirent, readdirSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { MeshError } from '../../core/contracts/errors.ts';
import { jsonIn } from '../../core/system/json-line.ts';
import { isStacksFile } from '../compare/stacks/figures/stacks-file.ts';
import { besides } from '../plan/batch-places.ts';
import { oneLine } from '../terminal/table.ts';
import type { FolderItem } from './folder-view.ts';
import { KeptHeads } from './kept-heads.ts';

/** What a file says that it is; undefined for one that is not what its name says. */
export type ItemHead = Pick<FolderItem, 'kind' | 'title' | 'facts'> | undefined;

export interface FolderList {
  readonly items: readonly FolderItem[];
  /** What was left out, in words: a list that is cut says so. */
  readonly left: readonly string[];
}

/** Folders below the one that was named; results lie two or three deep. */
const MAX_DEPTH = 5;
const MAX_ENTRIES = 50_000;
const MAX_ITEMS = 500;
/** Of a file that is read to say what it is. */
const MAX_HEAD_BYTES = 64 * 1024 * 1024;
const MAX_NAME = 80;
/** Where nothing of ours lies that is to be listed, and thousands of files may. */
const SKIPPED = new Set(['node_modules', 'workspaces']);
const ARCHIVE = 'run_artifacts.tar.gz';

/**
 * The runs, batches and comparisons in a folder and those below it. Links are not followed, so nothing outside is read; files that only
 * have the name are left out, and how many is said.
 *
 * @param heads what is known of files from another time
 */
export function folderItems(folder: string, heads = new KeptHeads<ItemHead>()): FolderList {
  const found: Omit<FolderItem, 'id'>[] = [];
  const left = { entries: 0, broken: [] as string[] };
  let waiting: { readonly at: string; readonly depth: number }[] = [{ at: folder, depth: 0 }];
  let entries = 0;
  while (waiting.length > 0) {
    const below: typeof waiting = [];
    for (const { at, depth } of waiting) {
      for (const entry of entriesOf(at)) {
        entries += 1;
        if (entries > MAX_ENTRIES) left.entries += 1;
        else if (entry.isDirectory()) {
          const isSkipped = entry.name.startsWith('.') || SKIPPED.has(entry.name);
          if (depth < MAX_DEPTH && !isSkipped)
            below.push({ at: path.join(at, entry.name), depth: depth + 1 });
        } else if (entry.isFile()) {
          const item = itemOf(folder, path.join(at, entry.name), heads);
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
    .map((item) => ({ id: idOf(item.file), ...item }));
  return { items, left: leftOut(found.length, left) };
}

/**
 * One file, which may have any name.
 *
 * @throws MeshError `usage` for what is none of ours
 */
export function itemOfFile(file: string): FolderItem {
  const folder = path.dirname(file);
  const heads = new KeptHeads<ItemHead>();
  const isArchive = /\.(?:tar\.gz|tgz)$/.test(file);
  const item = isArchive
    ? runOf(folder, file, heads)
    : file.endsWith('.json')
      ? jsonItemOf(folder, file, heads)
      : answersOf(folder, file, heads);
  if (item !== undefined && item !== 'broken') return { id: idOf(file), ...item };
  const expected = 'expected an archive of a run, comparison.json, stacks.json, or the answers of a batch';
  throw new MeshError('usage', `${file}: ${expected}`);
}

/** The same as long as the file is there, and no path. */
function idOf(file: string): string {
  return createHash('sha256').update(file).digest('hex').slice(0, 12);
}

function jsonItemOf(folder: string, file: string, heads: Heads): Found {
  return headedBy(file.endsWith('.batch.json') ? batchHead : comparisonHead, folder, file, heads);
}

function answersOf(folder: string, file: string, heads: Heads): Found {
  return headedBy(batchHead, folder, besides(file.replace(/\.journal$/, '')).head, heads);
}

function leftOut(
  found: number,
  { entries, broken }: { entries: number; broken: readonly string[] },
): string[] {
  return [
    ...(found > MAX_ITEMS ? [`${found - MAX_ITEMS} that are older`] : []),
    ...(entries > 0 ? [`what is beyond the first ${MAX_ENTRIES} files`] : []),
    ...(broken.length > 0
      ? [`files that are not what their names say: ${oneLine(broken.join(', '), 200)}`]
      : []),
  ];
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // Not ours to read, or gone meanwhile.
  }
}

type Heads = KeptHeads<ItemHead>;
type Found = Omit<FolderItem, 'id'> | 'broken' | undefined;

function itemOf(folder: string, file: string, heads: Heads): Found {
  const name = path.basename(file);
  if (name === ARCHIVE) return runOf(folder, file, heads);
  const isOurs = name === 'comparison.json' || name === 'stacks.json' || name.endsWith('.batch.json');
  return isOurs ? jsonItemOf(folder, file, heads) : undefined;
}

/** The metrics beside an archive say what it is; one without them is listed by its name. */
function runOf(folder: string, file: string, heads: Heads): Found {
  const own = heads.of(file, 0, () => ({ kind: 'run', title: 'a run', facts: 'without metrics beside it' }));
  if (own?.head === undefined) return undefined;
  const beside = heads.of(path.join(path.dirname(file), 'metrics.json'), MAX_HEAD_BYTES, metricsHead);
  const head = beside?.head ?? own.head;
  return { ...head, file, place: placeOf(folder, file), modifiedMs: own.modifiedMs };
}

function headedBy(headIn: (text: string) => ItemHead, folder: string, file: string, heads: Heads): Found {
  const own = heads.of(file, MAX_HEAD_BYTES, headIn);
  if (own?.head === undefined) return 'broken';
  return { ...own.head, file, place: placeOf(folder, file), modifiedMs: own.modifiedMs };
}

const text = z.string();
const metricsSchema = z.looseObject({
  ...{ team: text, adapter: text, engine: text, status: text, answer: text.nullable() },
  tasks: z.number(),
  answered: z.number(),
  normalized_em: z.number().nullable(),
});

function metricsHead(json: string): ItemHead {
  const metrics = metricsSchema.safeParse(jsonIn(json));
  if (!metrics.success) return undefined;
  const { team, adapter, engine, status, answer, tasks, answered, normalized_em } = metrics.data;
  const right = normalized_em === null ? '' : `, ${Math.round(100 * normalized_em)} % right`;
  const came = tasks === 1 ? (answer ?? status) : `${answered} of ${tasks} answered${right}`;
  return {
    kind: 'run',
    title: oneLine(`${team} · ${adapter} · ${engine}`, 2 * MAX_NAME),
    facts: oneLine(came, MAX_NAME),
  };
}

const comparisonSchema = z.looseObject({
  sentence: text.nullable(),
  baseline: text,
  adapters: z.array(z.looseObject({ adapter: text })).optional(),
  arms: z.array(z.looseObject({ name: text })).optional(),
});

function comparisonHead(json: string): ItemHead {
  const parsed = comparisonSchema.safeParse(jsonIn(json));
  if (!parsed.success) return undefined;
  const { sentence, baseline, adapters, arms } = parsed.data;
  const names = adapters?.map(({ adapter }) => adapter) ?? arms?.map((arm) => arm.name) ?? [];
  return {
    kind: isStacksFile(json) ? 'stacks' : 'comparison',
    title: oneLine(names.join(', ') || baseline, 2 * MAX_NAME),
    facts: oneLine(sentence ?? '', 200),
  };
}

const batchSchema = z.looseObject({
  teams: z.array(z.looseObject({ name: text })).min(1),
  questions: z.array(z.unknown()),
  repeat: z.number(),
});

function batchHead(json: string): ItemHead {
  const parsed = batchSchema.safeParse(jsonIn(json));
  if (!parsed.success) return undefined;
  const { teams, questions, repeat } = parsed.data;
  return {
    kind: 'batch',
    title: oneLine(teams.map(({ name }) => name).join(', '), 2 * MAX_NAME),
    facts: `${questions.length} questions${repeat > 1 ? `, ${repeat} times` : ''}`,
  };
}

function placeOf(folder: string, file: string): string {
  return oneLine(path.relative(folder, file) || path.basename(file), 200);
}
