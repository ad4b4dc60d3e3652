import http from 'node:http';
import { listenOnPlace } from '@gaia-mesh/stacks/listen.ts';
import * as z from 'zod';

/** A local server with the shapes of the agents course's scoring API, for tests. */
export interface ScoringServer {
  readonly url: string;
  /** `METHOD /path` of each request, in order. */
  readonly requests: readonly string[];
  /** Bodies that `/submit` took. */
  readonly submissions: readonly z.infer<typeof submissionSchema>[];
  readonly close: () => Promise<void>;
}

export interface ScoringScript {
  /** Items of `GET /questions`, or a text that is sent unchanged. */
  readonly questions: readonly Readonly<Record<string, unknown>>[] | string;
  /** Files by task id; 404 for the others, as the live server answers for all. */
  readonly files?: Readonly<Record<string, { readonly name: string; readonly bytes: Buffer }>>;
  readonly truths?: Readonly<Record<string, string>>;
  /** Number of first requests that are refused with 429. */
  readonly refusals?: number;
  /** The `Retry-After` of those refusals, in seconds. */
  readonly retryAfter?: string;
  /** Ends the connection in the middle of a file. */
  readonly tearsFiles?: boolean;
  /** The response of `/submit` in place of a score. */
  readonly submitFailure?: { readonly status: number; readonly body: string };
  /** Called when `/submit` is requested, before it responds. */
  readonly onSubmit?: () => void;
}

const submissionSchema = z.object({
  username: z.string(),
  agent_code: z.string(),
  answers: z.array(z.object({ task_id: z.string(), submitted_answer: z.string() })),
});

/** Listens on a free port of 127.0.0.1. */
export async function startScoringServer(script: ScoringScript): Promise<ScoringServer> {
  const requests: string[] = [];
  const submissions: z.infer<typeof submissionSchema>[] = [];
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    requests.push(`${request.method} ${pathname}`);
    if (requests.length <= (script.refusals ?? 0)) {
      return json(
        response,
        429,
        { detail: 'Too many requests' },
        { 'Retry-After': script.retryAfter ?? '0' },
      );
    }
    const { questions } = script;
    if (pathname === '/questions') return json(response, 200, questions);
    if (pathname.startsWith('/files/')) return file(response, decodeURIComponent(pathname.slice(7)));
    if (pathname === '/submit' && request.method === 'POST') return submit(response, Buffer.concat(chunks));
    return json(response, 404, { detail: 'Not Found' });
  });

  function file(response: http.ServerResponse, taskId: string): void {
    const found = script.files?.[taskId];
    if (found === undefined)
      json(response, 404, { detail: `No file path associated with task_id ${taskId}.` });
    else send(response, found);
  }

  function send(response: http.ServerResponse, found: { name: string; bytes: Buffer }): void {
    response.writeHead(200, {
      'Content-Type': 'application/octet-stream',
      'Content-Disposition': `attachment; filename="${found.name}"`,
      'Content-Length': found.bytes.length,
    });
    if (script.tearsFiles !== true) response.end(found.bytes);
    else response.write(found.bytes.subarray(0, Math.ceil(found.bytes.length / 2)), () => response.destroy());
  }

  function submit(response: http.ServerResponse, body: Buffer): void {
    script.onSubmit?.();
    if (script.submitFailure !== undefined) {
      const { status, body: text } = script.submitFailure;
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(text);
      return;
    }
    const result = submissionSchema.safeParse(JSON.parse(body.toString()));
    if (!result.success) {
      const detail = result.error.issues.map((issue) => ({
        type: 'missing',
        loc: ['body', ...issue.path],
        msg: 'Field required',
        input: {},
      }));
      json(response, 422, { detail });
      return;
    }
    const { username, answers } = result.data;
    submissions.push(result.data);
    const correct = answers.filter(
      ({ task_id, submitted_answer }) => script.truths?.[task_id] === submitted_answer,
    );
    const total = typeof questions === 'string' ? 1 : questions.length;
    json(response, 200, {
      username,
      score: (100 * correct.length) / total,
      correct_count: correct.length,
      total_attempted: answers.length,
      message: `Score calculated successfully: ${correct.length}/${total} total questions answered correctly.`,
      timestamp: '2026-09-17T10:00:00.000000+00:00',
    });
  }

  const { questions } = script;
  return {
    url: `http://127.0.0.1:${await listenOnPlace(server, { port: 0 })}`,
    requests,
    submissions,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function json(
  response: http.ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}
