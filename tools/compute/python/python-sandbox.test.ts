import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { describe, expect, test } from 'vitest';
import type { PythonBackend } from './python-backend.ts';
import { chooseBackend, parsePythonOptions } from './python-sandbox.ts';

const backend = (name: PythonBackend['name'], missing: string[] = []): PythonBackend => ({
  name,
  version: '3',
  guarantees: ['has no network'],
  missing,
  command: () => Promise.reject(new Error('it is never started here')),
});
const found = (one: PythonBackend) => () => Promise.resolve(one);
const absent = (message: string) => () => Promise.reject(new MeshError('tool', message));

describe('auto', () => {
  test('takes the system’s Python where every promise holds', async () => {
    const look = { system: found(backend('system')), pyodide: found(backend('pyodide')) };
    expect(await chooseBackend('auto', look)).toMatchObject({ backend: { name: 'system' }, passedOver: [] });
  });

  test('takes Pyodide where one does not, and says which', async () => {
    const look = {
      system: found(backend('system', ['starts no process'])),
      pyodide: found(backend('pyodide')),
    };
    expect(await chooseBackend('auto', look)).toMatchObject({
      backend: { name: 'pyodide' },
      passedOver: [expect.stringContaining('starts no process')],
    });
  });

  test('takes Pyodide where there is no sandbox', async () => {
    const look = { system: absent('no sandbox works here'), pyodide: found(backend('pyodide')) };
    expect(await chooseBackend('auto', look)).toMatchObject({
      backend: { name: 'pyodide' },
      passedOver: ['no sandbox works here'],
    });
  });

  test('says what to install where nothing will do', async () => {
    const look = { system: absent('install bubblewrap'), pyodide: absent('npm install') };
    await expect(chooseBackend('auto', look)).rejects.toMatchObject({
      code: 'tool',
      message: expect.stringMatching(/nothing here can run Python safely: install bubblewrap; npm install/),
    });
  });
});

test('whoever asks for the system’s Python gets it with the promises that hold, but never without a sandbox', async () => {
  const look = { system: found(backend('system', ['has no network'])), pyodide: found(backend('pyodide')) };
  expect(await chooseBackend('system', look)).toMatchObject({
    backend: { name: 'system', missing: ['has no network'] },
  });
  const none = { system: absent('no sandbox works here'), pyodide: found(backend('pyodide')) };
  await expect(chooseBackend('system', none)).rejects.toMatchObject({ code: 'tool' });
});

test('a machine without Python runs Pyodide, and doctor is told why', async () => {
  const script = `
    const { probePython } = await import(${JSON.stringify(new URL('./python-sandbox.ts', import.meta.url).href)});
    console.log(JSON.stringify([await probePython(), await probePython('system')]));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    env: { PATH: '/nowhere' },
  });
  const [auto, system] = JSON.parse(stdout);
  expect(auto).toMatchObject({ backend: 'pyodide', version: expect.stringMatching(/^3\.\d+/) });
  expect(auto.guarantees).toContain('has no network');
  expect(JSON.stringify(auto.missing)).toMatch(/no python3 works here.*install Python|sandbox of Linux/);
  expect(system).toMatchObject({ backend: 'none', version: '', guarantees: [] });
});

describe('options of a team file (REQ-082)', () => {
  test('have defaults, and leave others’ options alone', () => {
    expect(parsePythonOptions({ something: 'else' })).toEqual({
      choice: 'auto',
      memoryMegabytes: 1024,
      timeoutMs: 10_000,
    });
  });

  test.each([
    [{ python: 'docker' }, 'python'],
    [{ python_memory_mb: 255 }, 'python_memory_mb'],
    [{ python_memory_mb: 8193 }, 'python_memory_mb'],
    [{ python_timeout_s: 0 }, 'python_timeout_s'],
    [{ python_timeout_s: 60.1 }, 'python_timeout_s'],
  ])('%j is refused', (options, name) => {
    expect(() => parsePythonOptions(options)).toThrow(
      expect.objectContaining({ code: 'config', message: expect.stringContaining(name) }),
    );
  });
});
