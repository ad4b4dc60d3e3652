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
  readonly one: string;
  readonly many: string;
  count: number;
  readonly examples: string[];
}

/** Counts guesses and omissions, with a few examples each. Nothing is omitted silently. */
export class ImportNotes {
  readonly #guessed = new Map<string, Note>();
  readonly #dropped = new Map<string, Note>();
  readonly #malformed = new Map<string, Note>();

  /**
   * Notes a guess.
   *
   * @param one text for a single case
   * @param many text for several, with `#` for their number
   */
  guess(one: string, many: string, example?: string, count = 1): void {
    add(this.#guessed, one, many, example, count);
  }

  drop(one: string, many: string, example?: string, count = 1): void {
    add(this.#dropped, one, many, example, count);
  }

  /** Notes a line or item that cannot be read, with its position. */
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
