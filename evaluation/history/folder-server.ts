import { lstatSync } from 'node:fs';
import { fillPage } from '../report/page-html.ts';
import { readReport } from '../report/report.ts';
import { PageServer } from '../watch/page-server.ts';
import { type FolderItem, type FolderList, listFolderItems } from './folder-items.ts';

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
