import { expect, test } from 'vitest';
import { withPackage } from './optional-package.ts';

const missing = (name: string) =>
  Object.assign(new Error(`Cannot find package '${name}' imported from /x.js`), {
    code: 'ERR_MODULE_NOT_FOUND',
  });

test('a package that is not installed is named, with what to type', async () => {
  const load = () => Promise.reject(missing('@a2a-js/sdk'));
  await expect(withPackage('@a2a-js/sdk@1', '--stacks a2a/rest', load)).rejects.toThrow(
    '--stacks a2a/rest needs the package @a2a-js/sdk, which is not installed: npm install @a2a-js/sdk@1',
  );
  await expect(withPackage('ws@8', '--stacks json/websocket', async () => 7)).resolves.toBe(7);
});

test('of several packages the missing one is named, and all are to be installed', async () => {
  const load = () => Promise.reject(missing('express'));
  await expect(withPackage('@a2a-js/sdk@1 express@5', '--stacks a2a/rest', load)).rejects.toThrow(
    'needs the package express, which is not installed: npm install @a2a-js/sdk@1 express@5',
  );
});

test('any other failure is what it was', async () => {
  const other = missing('something-else');
  await expect(withPackage('ws@8', '--stacks json/websocket', () => Promise.reject(other))).rejects.toBe(
    other,
  );
});
