import { lstatSync } from 'node:fs';
import { fillPage } from '../report/page-html.ts';
import { openArchivedBatch } from '../watch/archived-batch.ts';
import { openArchivedRun } from '../watch/archived-run.ts';
import { EventFeed } from '../watch/event-feed.ts';
import { buildComparisonReport } from '../watch/finished-report.ts';
import { PageServer } from '../watch/page-server.ts';
import { answerRequest, type WatchedRun } from '../watch/watched-run.ts';
import { type FolderItem, type FolderList, listFolderItems } from './folder-items.ts';

/** Runs whose events stay in memory; the others are read again when a page asks for them. */
const MAX_OPENED = 4;

interface ServedFolder {
  readonly folder: string;
  /** A file that is listed in addition to those of the folder; it may have any name. */
  readonly item: FolderItem | undefined;
  readonly port: number;
}

/** Serves a folder of results: the list of its items, and a page for each. */
export async function serveFolder({ folder, item: first, port }: ServedFolder): Promise<PageServer> {
  const itemPage = fillPage({ kind: 'run', title: 'Finished', isListed: true }, true);
  const opened = new OpenedItems();
  const items = new ServedItems(folder, first);
  return PageServer.start(port, async (request) => {
    if (request.path === '') {
      const { items: found, left } = items.list();
      const listed = found.map(({ file: _file, ...item }) => item);
      return fillPage({ kind: 'folder', title: folder, items: listed, left }, true);
    }
    const [, id = '', below = ''] = /^item\/(\w+)\/(\w*)$/.exec(request.path) ?? [];
    const item = items.find(id);
    if (item === undefined) return undefined;
    return below === '' ? itemPage : answerRequest(await opened.open(item), request, below);
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

class OpenedItems {
  readonly #opened = new Map<string, Promise<WatchedRun>>();

  open(item: FolderItem): Promise<WatchedRun> {
    const key = `${item.id} ${item.modifiedMs}`;
    let run = this.#opened.get(key);
    if (run === undefined) {
      run = openWatchedRun(item);
      // A run that could not be opened is tried again at the next request.
      run.catch(() => this.#opened.delete(key));
      const [oldest] = this.#opened.keys();
      if (this.#opened.size >= MAX_OPENED && oldest !== undefined) this.#opened.delete(oldest);
      this.#opened.set(key, run);
    }
    return run;
  }
}

async function openWatchedRun({ kind, file, setting }: FolderItem): Promise<WatchedRun> {
  if (kind === 'run') return openArchivedRun(file);
  if (kind === 'batch') return openArchivedBatch(file);
  const feed = new EventFeed(() => 0);
  feed.end(setting);
  const nothing = async () => undefined;
  return {
    feed,
    details: { log: nothing, reasoning: nothing, packet: nothing },
    report: () => buildComparisonReport(file),
  };
}
