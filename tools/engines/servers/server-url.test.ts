import { expect, test } from 'vitest';
import { resolveOllamaUrl } from './server-url.ts';

test.each([
  ['127.0.0.1', 'http://127.0.0.1:11434'],
  ['localhost:8', 'http://localhost:8'],
  [':8', 'http://127.0.0.1:8'],
  ['0.0.0.0', 'http://127.0.0.1:11434'],
  ['[::1]:8', 'http://[::1]:8'],
  ['https://models.example/ollama/', 'https://models.example/ollama'],
])('the host %s is %s', (host, url) => {
  expect(resolveOllamaUrl(host, {})).toBe(url);
  expect(resolveOllamaUrl(undefined, { OLLAMA_HOST: host })).toBe(url);
});

test.each(['', 'ftp://localhost', 'http://', 'a b'])('%j is no host', (host) => {
  expect(() => resolveOllamaUrl(host, {})).toThrow(expect.objectContaining({ code: 'usage' }));
});

test('a host with a password is refused without repeating it', () => {
  expect(() => resolveOllamaUrl('http://me:hush@localhost', {})).toThrow(/^(?!.*hush).*password/);
});
