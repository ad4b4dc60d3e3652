import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';

const guardUrl = new URL('./guard.ts', import.meta.url).href;

/** Limits are multiples of the time that a process takes to start, which is 0.1 s on an idle machine and more on a busy one. */
const STARTS = 20;

/** A process with a child and a folder that it has guarded, and what it prints before it waits. */
async function guarding(then: string) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-guard-'));
  mkdirSync(path.join(folder, 'full'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const script = `
    import { spawn } from 'node:child_process';
    import { guard } from ${JSON.stringify(guardUrl)};
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    const release = guard({ pid: child.pid, folder: ${JSON.stringify(folder)} });
    console.log(child.pid);
    ${then}
    setInterval(() => 0, 1000);
  `;
  const began = performance.now();
  const holder = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await once(holder.stdout, 'data');
  const startMs = performance.now() - began;
  const pid = Number(String(said));
  onTestFinished(() => {
    if (isThere(pid)) process.kill(pid, 'SIGKILL');
  });
  return { holder, pid, folder, startMs };
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('what is guarded goes within 2 s of the death of who had it guarded', async () => {
  const { holder, pid, folder, startMs } = await guarding('');
  expect(isThere(pid)).toBe(true);

  holder.kill('SIGKILL');

  await vi.waitFor(() => expect([isThere(pid), existsSync(folder)]).toEqual([false, false]), {
    timeout: Math.max(2000, STARTS * startMs),
  });
});

test('what was tidied up is left alone', async () => {
  const { holder, pid, folder } = await guarding(
    'release(); setTimeout(() => console.log("released"), 200);',
  );
  await once(holder.stdout, 'data');

  holder.kill('SIGKILL');
  await once(holder, 'exit');
  await new Promise((resolve) => setTimeout(resolve, 300));

  expect([isThere(pid), existsSync(folder)]).toEqual([true, true]);
});
