import { lstatSync } from 'node:fs';
import { type FolderList, folderItems, type ItemHead } from './folder-items.ts';
import type { FolderItem } from './folder-view.ts';
import { KeptHeads } from './kept-heads.ts';

/** What is in a folder, for as long as it is looked at. */
export class KeptItems {
  readonly #folder: string;
  readonly #first: FolderItem | undefined;
  readonly #heads: KeptHeads<ItemHead>;
  #known = new Map<string, FolderItem>();

  /** @param first is there, too, whatever its name */
  constructor(folder: string, first?: FolderItem, heads = new KeptHeads<ItemHead>()) {
    this.#folder = folder;
    this.#first = first;
    this.#heads = heads;
  }

  /** Looks through the folder; of files that are as they were nothing is read. */
  list(): FolderList {
    const list = folderItems(this.#folder, this.#heads);
    this.#heads.forgetOthers();
    const first = this.#first;
    const isThere = first === undefined || list.items.some(({ id }) => id === first.id);
    const items = isThere ? list.items : [first, ...list.items];
    this.#known = new Map(items.map((item) => [item.id, item]));
    return { ...list, items };
  }

  /** One of them. Its folder is looked through only where it is not as it was, or was never seen. */
  item(id: string): FolderItem | undefined {
    const known = this.#known.get(id);
    if (known !== undefined && lstatSync(known.file, { throwIfNoEntry: false })?.mtimeMs === known.modifiedMs)
      return known;
    return this.list().items.find((item) => item.id === id);
  }
}
