import { hashWord } from '@gaia-mesh/reader/hash.ts';
import type { Anchor, TableQuestion } from './anchors.ts';
import type { Program, Role } from './programs.ts';
import type { Column, Table } from './table.ts';
import { splitWords } from './words.ts';

/** Bits of a feature's number, a hash of the feature's text. */
export const FEATURE_BITS = 20;

/**
 * Programs of one question in factors. A factor is a part that many programs share, such as an operation or a column in
 * a role; its features are computed once, and the score of a program is the sum over its factors. Features are general:
 * types, coverage, matches of words, and (learned) which words of a question go with which operation.
 */
export class Factors {
  readonly #question: TableQuestion;
  readonly #table: Table;
  readonly #anchors: readonly Anchor[];
  readonly #ids = new Map<string, number>();
  /** Features of each factor. */
  readonly features: Int32Array[] = [];
  readonly #grams: readonly string[];
  readonly #opening: readonly string[];
  readonly #text: string;
  /** Columns whose whole title the question contains. */
  readonly #named: readonly number[];
  /** Caches by anchors and by answer, which many programs share. */
  readonly #left = new Map<readonly Anchor[], string>();
  readonly #isAsked = new Map<string, boolean>();

  constructor(question: TableQuestion, table: Table, anchors: readonly Anchor[]) {
    this.#question = question;
    this.#table = table;
    this.#anchors = anchors;
    const { stems, words } = question;
    this.#grams = [...stems, ...stems.slice(1).map((stem, at) => `${stems[at]} ${stem}`)];
    this.#opening = [stems[0] ?? '', stems.slice(0, 2).join(' '), stems.slice(0, 3).join(' ')];
    this.#text = ` ${words.join(' ')} `;
    this.#named = table.columns
      .filter((column) => measureTitleMatch(column, stems) === 1)
      .map(({ index }) => index);
  }

  /** Returns the factors of a program. */
  of(program: Program): number[] {
    const { shape, operations, anchors, roles, answer, type } = program;
    const list = [this.#id(`shape ${shape}`, () => this.#ofWords(`s ${shape}`))];
    for (const operation of new Set(operations))
      list.push(this.#id(`operation ${operation}`, () => this.#ofWords(`o ${operation}`)));
    for (const role of roles)
      list.push(this.#id(`role ${role.use} ${role.column}`, () => this.#ofRole(role)));
    for (const anchor of anchors) list.push(this.#id(`anchor ${anchor.id}`, () => this.#ofAnchor(anchor)));
    list.push(this.#pairs(program), this.#uncovered(anchors, roles));
    const size = Math.min(answer.length, 4);
    const asked = answer.filter((text) => this.#asks(text)).length;
    const told = asked === 0 ? 'new' : asked === answer.length ? 'asked' : 'mixed';
    const outer = operations.at(-1) ?? '';
    const value = type === 'number' && answer.length === 1 ? classifySize(Number(answer[0])) : 'no';
    const kind = `${type} ${size} ${told} ${outer === 'project' ? 'project' : 'made'} ${value}`;
    list.push(
      this.#id(`answer ${kind}`, () => {
        const parts = [
          `t ${type}`,
          `n ${size}`,
          `a ${told}`,
          `v ${value}`,
          `k ${kind}`,
          `tn ${type} ${size}`,
        ];
        return parts.flatMap((part) => [part, ...this.#opening.map((opening) => `${part}|${opening}`)]);
      }),
    );
    return list;
  }

  #asks(text: string): boolean {
    const isAsked = this.#isAsked.get(text) ?? this.#text.includes(` ${splitWords(text).join(' ')} `);
    this.#isAsked.set(text, isAsked);
    return isAsked;
  }

  #id(key: string, make: () => string[]): number {
    let id = this.#ids.get(key);
    if (id === undefined) {
      id = this.features.length;
      this.#ids.set(key, id);
      this.features.push(Int32Array.from(new Set(make().map(hashFeature))));
    }
    return id;
  }

  #ofWords(name: string): string[] {
    return [
      name,
      ...this.#grams.map((gram) => `${name}|${gram}`),
      ...this.#opening.map((gram) => `${name}|^${gram}`),
    ];
  }

  #ofRole({ use, column }: Role): string[] {
    const { stems } = this.#question;
    const own = this.#table.columns[column];
    if (own === undefined) return [];
    const { words, type, isSortable } = own;
    const matched = words.filter((word) => stems.includes(word));
    const share =
      words.length === 0
        ? 'none'
        : matched.length === words.length
          ? 'all'
          : matched.length > 0
            ? 'some'
            : 'no';
    const best = Math.max(...this.#table.columns.map((other) => measureTitleMatch(other, stems)));
    const isBest = best > 0 && measureTitleMatch(own, stems) === best;
    const place = column === 0 ? 'first' : column === this.#table.columns.length - 1 ? 'last' : 'inner';
    const isFirstText = this.#table.columns.find((other) => other.type === 'text')?.index === column;
    const title = words.join(' ');
    const facts = [
      `m ${share} ${isBest}`,
      `t ${type} ${isSortable}`,
      `p ${place}`,
      `f ${isFirstText}`,
      `h ${title}`,
    ];
    const at = matched.length === 0 ? -1 : stems.indexOf(matched[0] ?? '');
    if (at >= 0)
      facts.push(
        `at ${Math.min(at, 4)} ${share}`,
        `prev ${stems[at - 1] ?? '^'}`,
        `next ${stems[at + 1] ?? '$'}`,
      );
    return [
      ...facts.map((fact) => `${use} ${fact}`),
      ...facts.slice(0, 4).flatMap((fact) => this.#opening.map((opening) => `${use} ${fact}|${opening}`)),
      ...this.#opening.map((opening) => `${use} h ${title}|${opening}`),
      ...words.slice(0, 4).flatMap((word) => stems.map((stem) => `${use} ${word}~${stem}`)),
      ...stems.map((stem) => `${use} type ${type}~${stem}`),
    ];
  }

  #ofAnchor({ kind, column, start, end, rows }: Anchor): string[] {
    const { stems } = this.#question;
    const own = this.#table.columns[column];
    const isNamed = own?.words.some((word) => stems.includes(word)) ?? false;
    const length = Math.min(end - start, 4);
    const few = rows.length === 1 ? 'one' : rows.length < 4 ? 'few' : 'many';
    const name = `anchor ${kind}`;
    return [
      `${name} ${length}`,
      `${name} ${few}`,
      `${name} named ${isNamed}`,
      `${name} type ${own?.type}`,
      `${name} p ${stems[start - 1] ?? '^'}`,
      `${name} n ${stems[end] ?? '$'}`,
      `${name} pp ${stems[start - 2] ?? '^'} ${stems[start - 1] ?? '^'}`,
      ...(own?.words.slice(0, 3).map((word) => `${name} h ${word}~${stems[start - 1] ?? '^'}`) ?? []),
      `${name} h ${own?.words.join(' ')}`,
    ];
  }

  /** Adds features of how the columns of a program relate to each other. */
  #pairs({ anchors, roles, operations }: Program): number {
    const filters = new Set(anchors.map(({ column }) => column));
    const facts: string[] = [];
    for (const { use, column } of roles) if (filters.has(column)) facts.push(`${use} is filter`);
    const columns = roles.map(({ column }) => column);
    if (new Set(columns).size < columns.length) facts.push(`twice ${roles.map(({ use }) => use).join(' ')}`);
    if (filters.size < anchors.length) facts.push(`filters ${operations[0] ?? ''}`);
    const key = `pairs ${facts.sort().join(' ')} ${operations.length}`;
    return this.#id(key, () => [...facts.map((fact) => `pair ${fact}`), `depth ${operations.length}`]);
  }

  /** Adds features of the phrases and titles that the question mentions and the program leaves out. */
  #uncovered(used: readonly Anchor[], roles: readonly Role[]): number {
    const left = this.#left.get(used) ?? this.#leftBy(used);
    this.#left.set(used, left);
    const isUsed = (index: number) =>
      roles.some(({ column }) => column === index) || used.some(({ column }) => column === index);
    const named = Math.min(3, this.#named.filter((index) => !isUsed(index)).length);
    return this.#id(`left ${left} ${named}`, () => {
      const [exact, partial, long] = left.split(' ');
      return [
        `left is ${exact}`,
        `left has ${partial}`,
        `left long ${long}`,
        `left named ${named}`,
        `left ${exact} ${partial} used ${used.length}`,
      ];
    });
  }

  /**
   * Describes the unused phrases: those that equal a cell, those that are part of one, and the words of the longest of
   * the first.
   */
  #leftBy(used: readonly Anchor[]): string {
    const open = this.#anchors.filter(
      ({ start: at }) => !used.some(({ start, end }) => start <= at && at < end),
    );
    const exact = open.filter(({ kind }) => kind === 'is');
    const partial = open.filter(({ kind }) => kind === 'has');
    const places = (anchors: readonly Anchor[]) =>
      Math.min(3, new Set(anchors.map(({ start }) => start)).size);
    const long = Math.min(4, Math.max(0, ...exact.map(({ start, end }) => end - start)));
    return `${places(exact)} ${places(partial)} ${long}`;
  }
}

/** Returns the share of a title's words that the question contains. */
function measureTitleMatch({ words }: Column, stems: readonly string[]): number {
  return words.length === 0 ? 0 : words.filter((word) => stems.includes(word)).length / words.length;
}

function classifySize(value: number): string {
  if (!Number.isFinite(value)) return 'none';
  if (!Number.isInteger(value)) return 'fraction';
  if (value >= 1000 && value <= 2100) return 'year';
  return value < 0
    ? 'negative'
    : value < 3
      ? String(value)
      : value < 10
        ? 'few'
        : value < 100
          ? 'tens'
          : 'many';
}

/** Hashes a feature's text to its number, folded to FEATURE_BITS bits. */
function hashFeature(text: string): number {
  const hash = hashWord(text);
  return ((hash >>> FEATURE_BITS) ^ hash) & ((1 << FEATURE_BITS) - 1);
}
