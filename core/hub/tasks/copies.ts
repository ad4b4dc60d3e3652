import { hash } from 'node:crypto';
import { keptHead } from '../../contracts/packet.ts';
import { sharedId } from '../../wire/copy-id.ts';
import type { Link } from '../link.ts';
import type { Router } from '../routing.ts';

/** Which of the copies `ids` gets a task. */
export type ChooseCopy = (taskId: string, ids: readonly string[]) => string;

/**
 * Rendezvous hashing: each copy draws a number for the task, and the highest gets it. So nothing has to be agreed upon, tasks spread
 * evenly, and when a copy goes only its own tasks go to others.
 */
export function chooseCopy(taskId: string, ids: readonly string[]): string {
  let [chosen = '', highest = ''] = [];
  for (const id of ids) {
    const drawn = hash('sha256', `${id} ${taskId}`);
    if (drawn <= highest) continue;
    chosen = id;
    highest = drawn;
  }
  return chosen;
}

/** Tasks that are not open, and choices, that are remembered: asking again comes to the same. */
const MAX_REMEMBERED = 1000;

/** One copy of each agent that has several. */
interface Choice {
  /** By the id that the copies share. */
  readonly ids: ReadonlyMap<string, string>;
  /** Lists of recipients with the other copies left out: made once, since the relay goes by identity. */
  readonly lists: WeakMap<readonly Link[], readonly Link[]>;
}

interface OpenTask {
  choice: Choice;
  /** Copies that went while they had the task, and had been sent something of it to work on. */
  readonly missed: Set<string>;
}

/**
 * Who of an agent's copies works on what: every packet of a task goes to the same copy of each agent, so that what an agent knows of
 * a task is in one process. A task keeps its copies from its beginning to its end, whoever comes back in between.
 */
export class Copies {
  readonly #choose: ChooseCopy;
  /** Ids of all copies, by the id that they share. */
  readonly #groups: ReadonlyMap<string, readonly string[]>;
  readonly #open = new Map<string, OpenTask>();
  readonly #passing = new Map<string, Choice>();
  readonly #choices = new Map<string, Choice>();
  /** Ids of those who can be chosen. */
  #there: ReadonlySet<string> = new Set();

  private constructor(groups: ReadonlyMap<string, readonly string[]>, choose: ChooseCopy) {
    this.#groups = groups;
    this.#choose = choose;
  }

  /** Where no agent has copies everybody hears of every task. */
  static among(links: readonly Link[], choose: ChooseCopy): Copies {
    const ids = links.map(({ node }) => node.id);
    const groups = [...Map.groupBy(ids, sharedId)].filter(([, { length }]) => length > 1);
    return new Copies(new Map(groups), choose);
  }

  /** `links`: those who are there, or whose return is awaited. */
  membersChanged(links: readonly Link[]): void {
    this.#there = new Set(links.map(({ node }) => node.id));
    this.#passing.clear();
  }

  /** From now on the task keeps its copies. */
  begin(taskId: string): void {
    this.#open.set(taskId, { choice: this.#choiceOf(taskId), missed: new Set() });
  }

  end(taskId: string): void {
    this.#open.delete(taskId);
  }

  /** Those of `links` who get what is said in the task: of each agent one copy. The same list for the same `links`. */
  only(links: readonly Link[], taskId: string): readonly Link[] {
    if (this.#groups.size === 0) return links;
    const choice = this.#choiceOf(taskId);
    let own = choice.lists.get(links);
    if (own === undefined) {
      own = links.filter(({ node }) => (choice.ids.get(sharedId(node.id)) ?? node.id) === node.id);
      if (own.length === links.length) own = links;
      choice.lists.set(links, own);
    }
    return own;
  }

  /** `router`, with what is addressed to an agent going to the copy that has the task, and the other copies left out. */
  around(router: Router): Router {
    if (this.#groups.size === 0) return router;
    return {
      recipients: (head, sender) => {
        const { task_id, to } = head;
        const copy = to === undefined ? undefined : this.#choiceOf(task_id).ids.get(sharedId(to));
        const meant = copy === undefined || copy === to ? head : { ...keptHead(head), to: copy };
        return this.only(router.recipients(meant, sender), task_id);
      },
      membersChanged: (links) => router.membersChanged(links),
    };
  }

  /**
   * Gives the open tasks of a copy that is gone to the others. `hasWork` says whether it had been sent something to work on in a task.
   * The ids of these tasks; undefined when it is no copy, or the last one.
   */
  handOn({ node }: Link, hasWork: (taskId: string) => boolean): string[] | undefined {
    const group = sharedId(node.id);
    if (!this.#groups.get(group)?.some((id) => this.#there.has(id))) return undefined;
    const tasks = [...this.#open].filter(([, { choice }]) => choice.ids.get(group) === node.id);
    return tasks.map(([taskId, task]) => {
      if (hasWork(taskId)) task.missed.add(node.id);
      task.choice = this.#interned(new Map([...task.choice.ids, [group, this.#chosen(group, taskId)]]));
      return taskId;
    });
  }

  /** Whether the task's answer may come by way of `link`: a copy that took it over knows nothing of what the one before it was sent. */
  canWork({ node }: Link, taskId: string): boolean {
    const group = sharedId(node.id);
    if (!this.#groups.has(group)) return true;
    const isMissed = [...(this.#open.get(taskId)?.missed ?? [])].some((id) => sharedId(id) === group);
    return !isMissed && this.#choiceOf(taskId).ids.get(group) === node.id;
  }

  /** Whether the loss of `link` is one for the task. */
  concerns({ node }: Link, taskId: string): boolean {
    const chosen = this.#choiceOf(taskId).ids.get(sharedId(node.id));
    return chosen === undefined || chosen === node.id || this.#open.get(taskId)?.missed.has(node.id) === true;
  }

  #choiceOf(taskId: string): Choice {
    const known = this.#open.get(taskId)?.choice ?? this.#passing.get(taskId);
    if (known !== undefined) return known;
    const ids = [...this.#groups.keys()].map((group): [string, string] => [
      group,
      this.#chosen(group, taskId),
    ]);
    const choice = this.#interned(new Map(ids));
    // What agents invent must not fill the memory.
    if (this.#passing.size >= MAX_REMEMBERED) this.#passing.clear();
    this.#passing.set(taskId, choice);
    return choice;
  }

  #chosen(group: string, taskId: string): string {
    const all = this.#groups.get(group) ?? [];
    const there = all.filter((id) => this.#there.has(id));
    return this.#choose(taskId, there.length > 0 ? there : all);
  }

  /** Tasks with the same copies share their lists. */
  #interned(ids: ReadonlyMap<string, string>): Choice {
    const key = [...ids.values()].join(' ');
    let choice = this.#choices.get(key);
    if (choice === undefined) {
      choice = { ids, lists: new WeakMap() };
      if (this.#choices.size >= MAX_REMEMBERED) this.#choices.clear();
      this.#choices.set(key, choice);
    }
    return choice;
  }
}
