// The process that a JavaScript program of a question runs in, see node-javascript.ts. It takes two requests, a JSON line each, as
// python-system.py does: a greeting, and the program to run; then the program is all there is in it.
// Argument: the folder of the task's files, or "".
import fs, { readSync } from 'node:fs';
import Module from 'node:module';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { print } from '../print.ts';
import { shutDoors } from './shut-doors.ts';

interface Request {
  readonly mark: string;
  readonly path?: string;
  readonly arguments?: readonly string[];
  readonly input?: string;
}

const MAX_ERROR_CHARACTERS = 2000;

const requests = lines();
say(requests.next().value, { status: 'ok', version: process.version.slice(1) });
const request = requests.next().value;
if (request?.path !== undefined) run(request, request.path);

function run({ mark, input = '', arguments: given = [] }: Request, path: string): void {
  const [folder = ''] = process.argv.slice(2);
  let fault: string | undefined;
  const parse = JSON.stringify;
  const fail = (error: unknown) => {
    fault ??= short(error instanceof Error ? `${error.name}: ${error.message}` : inspect(error));
    print(`${error instanceof Error ? (error.stack ?? fault) : `Uncaught ${fault}`}\n`);
    process.exit(1);
  };
  // What goes wrong is told where results are, in their order.
  Object.defineProperty(process, 'stderr', { get: () => process.stdout });
  process.on('uncaughtException', fail);
  process.on('exit', (code) => {
    const isSyntax = fault?.startsWith('SyntaxError') === true;
    const status = fault === undefined && code === 0 ? 'ok' : isSyntax ? 'syntax_error' : 'error';
    const error = status === 'ok' ? {} : { error: fault ?? `exit code ${code}` };
    print(`\x1e${mark} ${parse({ status, ...error })}\n`);
  });
  if (folder !== '') process.chdir(folder);
  giveInput(input);
  process.argv.splice(1, process.argv.length, path, ...given);
  shutDoors();
  start(path).catch(fail);
}

/** As `node path` does: a module of either kind, which is the main one. */
async function start(path: string): Promise<void> {
  if (!/\.m[jt]s$/.test(path)) {
    try {
      const load: unknown = Reflect.get(Module, '_load');
      if (typeof load === 'function') Reflect.apply(load, Module, [path, null, true]);
      return;
    } catch (error) {
      // A module that awaits at its top level has to be imported.
      if (!(error instanceof Error && 'code' in error && error.code === 'ERR_REQUIRE_ASYNC_MODULE'))
        throw error;
    }
  }
  await import(pathToFileURL(path).href);
}

/** What it reads from its standard input, by the stream and by file number 0. */
function giveInput(input: string): void {
  Object.defineProperty(process, 'stdin', {
    value: Object.assign(Readable.from(input === '' ? [] : [Buffer.from(input)]), { fd: 0, isTTY: false }),
  });
  const { readFileSync } = fs;
  const isInput = (file: unknown) => file === 0 || file === '/dev/stdin';
  Object.assign(fs, {
    readFileSync(...[file, options]: Parameters<typeof readFileSync>) {
      if (!isInput(file)) return readFileSync(file, options);
      return options === undefined || options === null ? Buffer.from(input) : input;
    },
  });
}

/** Requests, each read when it is needed and not before: what follows is nobody's. */
function* lines(): Generator<Request, undefined> {
  const byte = Buffer.alloc(64 * 1024);
  let text = '';
  for (;;) {
    const end = text.indexOf('\n');
    if (end >= 0) {
      yield JSON.parse(text.slice(0, end));
      text = text.slice(end + 1);
      continue;
    }
    const count = readSync(0, byte);
    if (count === 0) return undefined;
    text += byte.toString('latin1', 0, count);
  }
}

function say(request: Request | undefined, reply: object): void {
  if (request !== undefined) print(`\x1e${request.mark} ${JSON.stringify(reply)}\n`);
}

function short(text: string): string {
  return text.slice(0, MAX_ERROR_CHARACTERS).toWellFormed();
}
