import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { loadTeam } from '../../config/load-team.ts';
import { packageVersion } from '../../config/package-root.ts';
import { defaultOut, userPath } from '../../config/user-paths.ts';
import { messageOf } from '../../core/errors.ts';
import { checkOllama } from '../../tools/engines/ollama.ts';
import { stylesFor } from '../terminal/style.ts';

interface Finding {
  readonly what: string;
  /** `note`: fine without it, but something will not be available. */
  readonly status: 'ok' | 'note' | 'bad';
  readonly detail: string;
}

const MIN_FREE_BYTES = 512 * 1024 * 1024;

/** Checks what a run needs, and says what to do about what is missing. Exit code 1 if a run would fail. */
export async function doctor(options: { readonly json?: boolean }): Promise<void> {
  const findings = await Promise.all([node(), ports(), sandbox(), ollama(), python(), disk()]);
  if (options.json) process.stdout.write(`${JSON.stringify(findings, null, 2)}\n`);
  else {
    const { green, yellow, red, bold } = stylesFor(process.stdout);
    const mark = { ok: green('✓'), note: yellow('–'), bad: red('✗') };
    console.log(bold(`Gaia Mesh ${packageVersion}`));
    for (const { what, status, detail } of findings)
      console.log(`${mark[status]} ${what.padEnd(16)} ${detail}`);
  }
  if (findings.some((finding) => finding.status === 'bad')) process.exitCode = 1;
}

async function node(): Promise<Finding> {
  return { what: 'Node', status: 'ok', detail: `${process.version} (${process.execPath})` };
}

/** Whether the default team's ports are free. */
async function ports(): Promise<Finding> {
  const team = loadTeam('default', userPath);
  const wanted = team.agents.map((agent, index) => agent.port ?? team.port_base + index);
  const taken: number[] = [];
  for (const port of wanted) if (!(await isFree(port))) taken.push(port);
  return taken.length === 0
    ? { what: 'ports', status: 'ok', detail: `${wanted.join(', ')} are free` }
    : {
        what: 'ports',
        status: 'bad',
        detail: `${taken.join(', ')} in use: run with --port-base auto, or another --port-base`,
      };
}

async function isFree(port: number): Promise<boolean> {
  const server = net.createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen({ host: '127.0.0.1', port }, resolve);
    });
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

/** Whether agents are really held to their folder. */
async function sandbox(): Promise<Finding> {
  const script = "require('node:fs').readFileSync(process.execPath)";
  try {
    await promisify(execFile)(process.execPath, ['--permission', '-e', script], { timeout: 10_000 });
    return { what: 'sandbox', status: 'bad', detail: 'Node’s permission model does not hold here' };
  } catch (error) {
    return messageOf(error).includes('ERR_ACCESS_DENIED')
      ? {
          what: 'sandbox',
          status: 'ok',
          detail: 'agents read the code and write their own workspace only (node --permission)',
        }
      : { what: 'sandbox', status: 'bad', detail: messageOf(error) };
  }
}

async function ollama(): Promise<Finding> {
  try {
    const { version, models } = await checkOllama();
    const names = models.length > 0 ? models.slice(0, 5).join(', ') : 'no model yet: ollama pull gemma3';
    return { what: 'Ollama', status: 'ok', detail: `${version}: ${names}` };
  } catch {
    return {
      what: 'Ollama',
      status: 'note',
      detail: 'not running; only needed for --engine ollama (https://ollama.com)',
    };
  }
}

async function python(): Promise<Finding> {
  try {
    const { stdout } = await promisify(execFile)('python3', ['--version'], { timeout: 10_000 });
    return { what: 'Python', status: 'ok', detail: stdout.trim() };
  } catch {
    return {
      what: 'Python',
      status: 'note',
      detail: 'not found; only agents that you write in Python need it',
    };
  }
}

async function disk(): Promise<Finding> {
  const folder = path.resolve(defaultOut());
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const detail = `${(free / 1e9).toFixed(1)} GB free in ${folder}`;
  return { what: 'disk', status: free > MIN_FREE_BYTES ? 'ok' : 'bad', detail };
}
