import { watchHtml } from '../report/watch-html.ts';
import { archivedBatch } from '../watch/archived-batch.ts';
import { archivedRun } from '../watch/archived-run.ts';
import { EventFeed } from '../watch/event-feed.ts';
import { reportOfComparison } from '../watch/finished-report.ts';
import { type Answer, type PageRequest, PageServer } from '../watch/page-server.ts';
import { answerOf, type WatchedRun } from '../watch/watched-run.ts';
import { comparedOrWhy } from './compare-items.ts';
import { findText } from './find-text.ts';
import type { FolderList } from './folder-items.ts';
import type { FolderItem, ListedItem } from './folder-view.ts';
import { KeptItems } from './kept-items.ts';

/** Runs whose events are kept while somebody looks at them; others are read again. */
const MAX_OPENED = 4;

interface ServedFolder {
  readonly folder: string;
  /** One file, which may have any name, beside those of the folder. */
  readonly item: FolderItem | undefined;
  readonly port: number;
}

/** Serves a folder of results: a list of what is there, a page of each, two side by side, and a search. */
export async function serveFolder({ folder, item, port }: ServedFolder): Promise<PageServer> {
  const page = watchHtml({ kind: 'folder', title: folder, isListed: false });
  const itemPage = watchHtml({ kind: 'run', title: 'Finished', isListed: true });
  const opened = new OpenedItems();
  const kept = new KeptItems(folder, item);
  const answer = async (request: PageRequest): Promise<Answer | undefined> => {
    const { path, query } = request;
    if (path === '') return page;
    if (path === 'items') return { json: listedOf(kept.list()) };
    if (path === 'find') return { json: await findText(kept.list().items, query.get('text') ?? '') };
    if (path === 'compare') {
      const [base, other] = [kept.item(query.get('base') ?? ''), kept.item(query.get('other') ?? '')];
      return base === undefined || other === undefined
        ? undefined
        : { json: await comparedOrWhy(base, other) };
    }
    const [, id = '', below = ''] = /^item\/(\w+)\/(\w*)$/.exec(path) ?? [];
    const found = kept.item(id);
    if (found === undefined) return undefined;
    return below === '' ? itemPage : answerOf(await opened.open(found), request, below);
  };
  return PageServer.start(port, answer);
}

function listedOf({ items, left }: FolderList): { items: ListedItem[]; left: readonly string[] } {
  return { items: items.map(({ file: _file, ...item }) => item), left };
}

class OpenedItems {
  readonly #opened = new Map<string, Promise<WatchedRun>>();

  open(item: FolderItem): Promise<WatchedRun> {
    const key = `${item.id} ${item.modifiedMs}`;
    let run = this.#opened.get(key);
    if (run === undefined) {
      run = watchedOf(item);
      // What could not be opened is tried again.
      run.catch(() => this.#opened.delete(key));
      const [oldest] = this.#opened.keys();
      if (this.#opened.size >= MAX_OPENED && oldest !== undefined) this.#opened.delete(oldest);
      this.#opened.set(key, run);
    }
    return run;
  }
}

async function watchedOf({ kind, file, title }: FolderItem): Promise<WatchedRun> {
  if (kind === 'run') return archivedRun(file);
  if (kind === 'batch') return archivedBatch(file);
  const feed = new EventFeed(() => 0);
  feed.end(title);
  const nothing = async () => undefined;
  return {
    feed,
    details: { log: nothing, reasoning: nothing, packet: nothing },
    report: () => reportOfComparison(file),
  };
}
