import { readErrorWords } from '../../http/error-words.ts';

export const MAX_ERROR_CHARACTERS = 500;

/** A server's refusal, with its own words. */
export interface StatusFault {
  readonly kind: 'status';
  readonly status: number;
  readonly message: string;
  /** The server's own code (`insufficient_quota`), if it has one. */
  readonly code: string | undefined;
  /** The pause that the server asks for, if it does. */
  readonly retryAfterMs: number | undefined;
  /** True if the server said so in a reply that had begun with HTTP 200. */
  readonly isInReply?: true;
}

/** Statuses for error types in replies that began with HTTP 200; all other types count as server errors. */
const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  overloaded_error: 529,
  rate_limit_error: 429,
  invalid_request_error: 400,
  exceed_context_size_error: 400,
};

/** Creates the failure for an error in the middle of a stream, in either format. */
export function toReplyFailure(event: unknown): Error {
  const { message, code } = parseErrorBody(JSON.stringify(event));
  return new Refusal({
    kind: 'status',
    status: STATUS_OF_TYPE[code ?? ''] ?? (/^[45]\d\d$/.test(code ?? '') ? Number(code) : 500),
    message: message.slice(0, MAX_ERROR_CHARACTERS).toWellFormed(),
    code,
    retryAfterMs: undefined,
    isInReply: true,
  });
}

/** Reads the words of an error's body, or takes the body for them. */
export function parseErrorBody(body: string): NonNullable<ReturnType<typeof readErrorWords>> {
  return readErrorWords(body) ?? { message: body.trim(), code: undefined };
}

/** The failure of a request that the server refuses. */
export class Refusal extends Error {
  readonly fault: StatusFault;

  constructor(fault: StatusFault) {
    super('refused');
    this.fault = fault;
  }
}

/** A reply that began and is incomplete: the characters received, and how it ended unless an error says so. */
export class BrokenReply extends Error {
  readonly characters: number;
  readonly why: string | undefined;

  constructor(characters: number, why: string | undefined, cause?: unknown) {
    super(why ?? 'broken', { cause });
    this.characters = characters;
    this.why = why;
  }
}
