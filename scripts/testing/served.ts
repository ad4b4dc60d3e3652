import { vi } from 'vitest';
import * as z from 'zod';
import { Cli, temporaryFolder } from './cli.ts';

const servedSchema = z.object({
  team: z.string(),
  url: z.string(),
  mcp: z.string().optional(),
  card: z.string().optional(),
  token: z.string().nullable(),
});

/** A team that `serve` keeps running, and its announcement. */
export interface Served extends z.infer<typeof servedSchema> {
  readonly cli: Cli;
  /** Folder of its results. */
  readonly out: string;
}

export async function startServe(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Served> {
  const out = temporaryFolder();
  const all = ['serve', '--json', '--port', '0', '--port-base', 'auto', '--out', out, ...args];
  const cli = new Cli(all, { env });
  const said = await vi.waitFor(
    () => {
      if (cli.stdout === '') throw new Error(`serve says nothing: ${cli.stderr}`);
      return servedSchema.parse(JSON.parse(cli.stdout));
    },
    { timeout: 60_000, interval: 50 },
  );
  return { ...said, cli, out };
}

/** Ends it as its user does, and returns its outcome. */
export async function endServe({ cli }: Served) {
  cli.signal('SIGINT');
  return cli.ended();
}

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly json: ReturnType<typeof JSON.parse>;
  readonly events: readonly ReturnType<typeof JSON.parse>[];
}

/** Sends a request with a token and returns the response; a stream of events is read to its end. */
export async function post(url: string, token: string | null, body: unknown, headers = {}): Promise<Reply> {
  const sent = new Headers({
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...headers,
  });
  if (token !== null) sent.set('Authorization', `Bearer ${token}`);
  const response = await fetch(url, {
    method: 'POST',
    headers: sent,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const events = [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data));
  const json = events.length === 0 && text !== '' ? JSON.parse(text) : undefined;
  return { status: response.status, headers: response.headers, json, events };
}
