/** A message of foreign traffic before it becomes a packet: sender, recipient and content, as far as the log has them. */
export interface ImportedMessage {
  /** Time of sending in microseconds since 1970; undefined if it was not logged. */
  readonly atUs: number | undefined;
  readonly from: string;
  readonly to: string;
  /** Conversation, trace or session that the message belongs to. */
  readonly task: string;
  readonly type: string;
  /** Content of the application, without the protocol's envelope. */
  readonly payload: unknown;
  /** The message that this one answers. */
  readonly answers?: ImportedMessage | undefined;
  /** Tokens of the work for it, according to the log. */
  readonly tokens?: number | undefined;
}

/** A value of the file, and its position. */
export interface SourceValue {
  readonly value: unknown;
  /** `line 7`, `item 7` or `the file`. */
  readonly where: string;
}

/** A kind of files that is imported. */
export interface TrafficFormat {
  readonly name: string;
  /** Description for `--help` and messages. */
  readonly about: string;
  /** Reads the values of a file. Guesses and omissions are recorded in `notes`. */
  readonly read: (values: readonly SourceValue[], notes: ImportNotes) => ImportedMessage[];
  /** Returns the sign by which a value is recognized; undefined if it is not of this format. */
  readonly findSign: (value: unknown) => string | undefined;
}

/** Maximum examples of a note; its count covers all cases. */
const MAX_EXAMPLES = 3;
/** Maximum kinds of notes; the importers know fewer. */
const MAX_NOTES = 200;
/** Maximum characters of an example, which may be as long as the file. */
const MAX_EXAMPLE_LENGTH = 80;

interface Note {
  count: number;
  readonly examples: string[];
}

/** Counts guesses and omissions, with a few examples each. Nothing is omitted silently. */
export class ImportNotes {
  readonly #guessed = new Map<string, Note>();
  readonly #dropped = new Map<string, Note>();

  /** @param what the guessed things, in the plural: `causes of messages, taken as …` */
  guess(what: string, example?: string, count = 1): void {
    add(this.#guessed, what, example, count);
  }

  /** @param what the omitted things, in the plural: `lines that are not JSON` */
  drop(what: string, example?: string, count = 1): void {
    add(this.#dropped, what, example, count);
  }

  /** Returns the notes as lines. */
  said(): { readonly guessed: string[]; readonly dropped: string[] } {
    return { guessed: formatNotes(this.#guessed), dropped: formatNotes(this.#dropped) };
  }
}

function add(notes: Map<string, Note>, what: string, example: string | undefined, count: number): void {
  const known = notes.get(what);
  if (count === 0 || (known === undefined && notes.size >= MAX_NOTES)) return;
  const note = known ?? { count: 0, examples: [] };
  notes.set(what, note);
  note.count += count;
  if (example === undefined || note.examples.length >= MAX_EXAMPLES) return;
  const short = example.length > MAX_EXAMPLE_LENGTH ? `${example.slice(0, MAX_EXAMPLE_LENGTH)}…` : example;
  note.examples.push(short.toWellFormed().replaceAll(/\p{Cc}/gu, ' '));
}

/** Formats notes as `lines that are not JSON: 12 (line 3, line 7, line 9, …)`. */
function formatNotes(notes: ReadonlyMap<string, Note>): string[] {
  return [...notes].map(([what, { count, examples }]) => {
    const text = `${what}: ${count.toLocaleString('en')}`;
    if (examples.length === 0) return text;
    return `${text} (${examples.join(', ')}${count > examples.length ? ', …' : ''})`;
  });
}
