import { createHash } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { MeshError, readSystemCode, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues, shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { limitBytes, readBytes } from '@gaia-mesh/core/system/limit-bytes.ts';
import { explainBlockedPort } from '@gaia-mesh/tools/blocked-port.ts';
import { readErrorWords } from '@gaia-mesh/tools/http/error-words.ts';
import { findConnectionFault } from '@gaia-mesh/tools/http/fetch.ts';
import { requestService, ServiceRefusal } from '@gaia-mesh/tools/http/service.ts';
import * as z from 'zod';
import { questionSchema } from './question.ts';
import type { Questions } from './read-questions.ts';

/** Maximum bytes of a task's file. GAIA's largest are films of a few dozen megabytes. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;
/** Maximum bytes of any other reply. The course's twenty questions are 10 KB. */
const MAX_REPLY_BYTES = 16 * 1024 * 1024;
/** Maximum questions of a server; the course has twenty today. */
const MAX_QUESTIONS = 100_000;

/** Timeouts of the course's own client; a file may take longer than a list. */
const QUESTIONS_TIMEOUT_MS = 15_000;
const SUBMIT_TIMEOUT_MS = 60_000;
const FILE_TIMEOUT_MS = 300_000;

/** Limits on retries. The free server limits calls by the minute, and waiting longer than that for a single one does not help. */
const MAX_RETRIES = 5;
const MAX_RETRY_AFTER_MS = 60_000;

interface Submission {
  readonly username: string;
  readonly agent_code: string;
  readonly answers: readonly { readonly task_id: string; readonly submitted_answer: string }[];
}

const scoreSchema = z.looseObject({
  username: z.string().optional(),
  score: z.number(),
  correct_count: z.int().nonnegative(),
  total_attempted: z.int().nonnegative(),
  message: z.string().default(''),
});
export type SubmissionScore = z.infer<typeof scoreSchema>;

const questionsSchema = z.array(questionSchema).min(1, 'there is no question in it').max(MAX_QUESTIONS);

/**
 * The agents course's scoring API, or a server that speaks the same: `GET /questions`, `/files/{task_id}`, `POST /submit`. A busy server (429, 5xx) is asked again up to five times, after the time that it names.
 */
export class ScoringApi {
  readonly url: string;
  readonly #signal: AbortSignal;
  readonly #firstBackoffMs: number;

  /** @throws MeshError `usage` for an invalid address; `config` for a port that no request may go to */
  constructor(url: string, signal: AbortSignal, { firstBackoffMs = 500 } = {}) {
    this.url = parseApiUrl(url);
    this.#signal = signal;
    this.#firstBackoffMs = firstBackoffMs;
  }

  /**
   * Fetches all questions.
   *
   * @throws MeshError `io` if the server cannot be reached; `config` if the reply holds no valid questions
   */
  async questions(): Promise<Questions> {
    const text = await this.#text('questions', QUESTIONS_TIMEOUT_MS);
    const questions = this.#parsed(text, questionsSchema, 'questions');
    const ids = new Set<string>();
    for (const { taskId } of questions) {
      if (ids.has(taskId))
        throw new MeshError('config', `${this.url}/questions: task_id ${taskId} comes twice`);
      ids.add(taskId);
    }
    return { questions, sha256: createHash('sha256').update(text).digest('hex') };
  }

  /**
   * Fetches a task's file to `target`, which then exists as a whole or not at all.
   *
   * @returns its size and hash
   * @throws MeshError `io` with the reason: many live servers have none of the files
   */
  async file(taskId: string, target: string): Promise<{ bytes: number; sha256: string }> {
    const part = `${target}.part`;
    const hash = createHash('sha256');
    let bytes = 0;
    const output = await open(part, 'w');
    try {
      await this.#exchange(`files/${encodeURIComponent(taskId)}`, FILE_TIMEOUT_MS, async (response) => {
        const createError = createSizeError(response, MAX_FILE_BYTES);
        for await (const chunk of limitBytes(response.body, MAX_FILE_BYTES, createError)) {
          hash.update(chunk);
          bytes += chunk.length;
          await output.writeFile(chunk);
        }
      });
      await output.close();
      await rename(part, target);
    } catch (error) {
      await output.close();
      await rm(part, { force: true });
      throw error;
    }
    return { bytes, sha256: hash.digest('hex') };
  }

  /**
   * Submits answers for scoring.
   *
   * @throws MeshError `io` with the server's own words
   */
  async submit(submission: Submission): Promise<SubmissionScore> {
    const text = await this.#exchange('submit', SUBMIT_TIMEOUT_MS, readResponseText, submission);
    return this.#parsed(text, scoreSchema, 'submit');
  }

  #text(path: string, timeoutMs: number): Promise<string> {
    return this.#exchange(path, timeoutMs, readResponseText);
  }

  #parsed<T>(text: string, schema: z.ZodType<T>, path: string): T {
    const where = `${this.url}/${path}`;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      throw new MeshError('config', `${where}: the reply is not JSON: ${toErrorMessage(error)}`, {
        cause: error,
      });
    }
    const result = schema.safeParse(value);
    if (!result.success) throw new MeshError('config', `${where}: ${formatIssues(result.error)}`);
    return result.data;
  }

  /** Makes one request and reads its whole reply in time. Any failure becomes an error with its cause in words. */
  async #exchange<T>(
    path: string,
    timeoutMs: number,
    read: (response: Response) => Promise<T>,
    json?: object,
  ): Promise<T> {
    const timeout = AbortSignal.timeout(timeoutMs + MAX_RETRY_AFTER_MS);
    const finished = new AbortController();
    const signal = AbortSignal.any([this.#signal, timeout, finished.signal]);
    const request = {
      url: new URL(`${this.url}/${path}`),
      // A repeated submission is scored twice, and the better score counts.
      body: json === undefined ? undefined : JSON.stringify(json),
      headers: { 'content-type': 'application/json' },
      timeoutMs,
      maxRetries: MAX_RETRIES,
      maxNetworkRetries: MAX_RETRIES,
      backoff: {
        firstMs: this.#firstBackoffMs,
        maxMs: MAX_RETRY_AFTER_MS,
        maxRetryAfterMs: MAX_RETRY_AFTER_MS,
      },
    };
    try {
      return await read(await requestService(request, signal));
    } catch (error) {
      if (this.#signal.aborted) throw this.#signal.reason;
      if (error instanceof MeshError) throw error;
      const where = `${this.url}/${path}`;
      if (error instanceof ServiceRefusal) {
        throw new MeshError('io', `${where}: HTTP ${error.status}: ${readErrorDetail(error.text)}`, {
          cause: error,
        });
      }
      if (timeout.aborted || (error instanceof Error && error.name === 'TimeoutError')) {
        throw new MeshError('io', `${where}: no complete reply within ${timeoutMs / 1000} s`, {
          cause: error,
        });
      }
      // A full disk is not the server's fault.
      const code = readSystemCode(error);
      if (code === 'ENOSPC' || code === 'EDQUOT') throw error;
      const why = findConnectionFault(error)?.message ?? toErrorMessage(error);
      throw new MeshError('io', `${where}: no connection, or it was lost: ${why}`, { cause: error });
    } finally {
      // A reader may stop before the end, which would keep the connection open.
      finished.abort();
    }
  }
}

function parseApiUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new MeshError(
      'usage',
      `--api ${JSON.stringify(text)}: expected an address like http://127.0.0.1:8000`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new MeshError(
      'usage',
      `--api ${url.host}: give it without a password, which would be in every log`,
    );
  }
  const blocked = explainBlockedPort(url);
  if (blocked !== undefined) throw new MeshError('config', `--api: ${blocked}`);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

async function readResponseText(response: Response): Promise<string> {
  return (
    await readBytes(response.body, MAX_REPLY_BYTES, createSizeError(response, MAX_REPLY_BYTES))
  ).toString();
}

function createSizeError({ url }: Response, maxBytes: number): () => MeshError {
  return () => new MeshError('io', `${url}: more than ${maxBytes} bytes, which is the limit`);
}

function readErrorDetail(text: string): string {
  return shortenReason(readErrorWords(text)?.message ?? (text || 'no reason given'));
}
