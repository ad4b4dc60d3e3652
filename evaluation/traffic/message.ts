/** One message of somebody else's traffic, before it becomes a packet: who said what to whom, as far as its log says so. */
export interface ImportedMessage {
  /** When it was sent, in microseconds since 1970; undefined where nobody wrote it down. */
  readonly atUs: number | undefined;
  readonly from: string;
  readonly to: string;
  /** Conversation, trace or session that it belongs to. */
  readonly task: string;
  readonly type: string;
  /** What the application said, without what the protocol put around it. */
  readonly payload: unknown;
  /** The message that this one answers. */
  readonly answers?: ImportedMessage | undefined;
  /** Tokens of the work for it, as the log says. */
  readonly tokens?: number | undefined;
}

/** A value of the file, and where it stood. */
export interface SourceValue {
  readonly value: unknown;
  /** `line 7`, `item 7` or `the file`. */
  readonly where: string;
}

/** Reads one kind of file. It says in `notes` what it guessed and what it left out. */
export type Importer = (values: readonly SourceValue[], notes: ImportNotes) => ImportedMessage[];

/** Examples that are named of each note; the count says how many there are. */
const MAX_EXAMPLES = 3;
/** Kinds of notes: more than the importers know. */
const MAX_NOTES = 200;
/** Characters of an example; it may be as long as the file. */
const MAX_EXAMPLE_LENGTH = 80;

interface Note {
  readonly one: string;
  readonly many: string;
  count: number;
  readonly examples: string[];
}

/** What was guessed and what was left out, counted, with a few examples each. Nothing is left out in silence. */
export class ImportNotes {
  readonly #guessed = new Map<string, Note>();
  readonly #dropped = new Map<string, Note>();
  readonly #malformed = new Map<string, Note>();

  /** `one`: what it says of one; `many`: of several, with `#` for the number. */
  guess(one: string, many: string, example?: string, count = 1): void {
    add(this.#guessed, one, many, example, count);
  }

  drop(one: string, many: string, example?: string, count = 1): void {
    add(this.#dropped, one, many, example, count);
  }

  /** A line or item that cannot be read, by name. */
  malformed(why: string, where: string): void {
    add(this.#malformed, `a line, ${why}`, `# lines, ${why}`, where, 1);
  }

  /** Returns the notes as sentences. */
  said(): { readonly guessed: string[]; readonly dropped: string[] } {
    return {
      guessed: formatNotes(this.#guessed),
      dropped: [...formatNotes(this.#malformed), ...formatNotes(this.#dropped)],
    };
  }
}

function add(
  notes: Map<string, Note>,
  one: string,
  many: string,
  example: string | undefined,
  count: number,
): void {
  if (count === 0) return;
  let note = notes.get(one);
  if (note === undefined) {
    if (notes.size >= MAX_NOTES) return;
    note = { one, many, count: 0, examples: [] };
    notes.set(one, note);
  }
  note.count += count;
  if (example === undefined || note.examples.length >= MAX_EXAMPLES) return;
  const short = example.length > MAX_EXAMPLE_LENGTH ? `${example.slice(0, MAX_EXAMPLE_LENGTH)}…` : example;
  note.examples.push(short.toWellFormed().replaceAll(/\p{Cc}/gu, ' '));
}

function formatNotes(notes: ReadonlyMap<string, Note>): string[] {
  return [...notes.values()].map(({ one, many, count, examples }) => {
    const text = count === 1 ? one : many.replace('#', count.toLocaleString('en'));
    if (examples.length === 0) return text;
    const more = count > examples.length ? ', …' : '';
    return `${text} (${examples.join(', ')}${more})`;
  });
}
