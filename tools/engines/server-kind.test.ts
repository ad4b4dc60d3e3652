import { describe, expect, test } from 'vitest';
import { checkServer, identifyModelSource } from './registry.ts';

const resolveOllamaUrl = (host: string | undefined, environment: Record<string, string> = {}) =>
  identifyModelSource('ollama', { host, environment });

test.each([
  ['127.0.0.1', 'http://127.0.0.1:11434'],
  ['localhost:8', 'http://localhost:8'],
  [':8', 'http://127.0.0.1:8'],
  ['0.0.0.0', 'http://127.0.0.1:11434'],
  ['[::1]:8', 'http://[::1]:8'],
  ['https://models.example/ollama/', 'https://models.example/ollama'],
])('the host %s is %s', async (host, url) => {
  expect(await resolveOllamaUrl(host, {})).toBe(url);
  expect(await resolveOllamaUrl(undefined, { OLLAMA_HOST: host })).toBe(url);
});

test.each(['', 'ftp://localhost', 'http://', 'a b'])('%j is no host', async (host) => {
  await expect(resolveOllamaUrl(host, {})).rejects.toMatchObject({ code: 'usage' });
});

test('a host with a password is refused without repeating it', async () => {
  await expect(resolveOllamaUrl('http://me:hush@localhost', {})).rejects.toThrow(/^(?!.*hush).*password/);
});

const KEYS = { OPENAI_API_KEY: 'sk-canary', ANTHROPIC_API_KEY: 'sk-ant-canary' };

describe.each(['openai', 'anthropic'])('the key of %s', (engine) => {
  const check = (host?: string, environment: Record<string, string> = {}, options = {}) =>
    checkServer(engine, {
      host,
      options,
      environment: { ...KEYS, ...environment },
    });

  test('goes to its maker, to the server of the environment, and to those that the user named', () => {
    const variable = `${engine.toUpperCase()}_BASE_URL`;
    expect(() => check()).not.toThrow();
    expect(() => check('http://127.0.0.1:8080/v1', { [variable]: '127.0.0.1:8080' })).not.toThrow();
    expect(() =>
      check('http://127.0.0.1:8080/v1', {
        GAIA_MESH_KEY_HOSTS: 'http://10.0.0.1:1, http://127.0.0.1:8080/v1',
      }),
    ).not.toThrow();
  });

  test.each([
    'https://attacker.example/v1',
    'http://127.0.0.1:8080',
    'https://api.openai.com.attacker.example',
    'http://api.openai.com',
    'http://api.anthropic.com',
  ])('does not go to %s, which only a team file names', (host) => {
    expect(() => check(host)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining('GAIA_MESH_KEY_HOSTS') }),
    );
    expect(() => check(undefined, {}, { fallback_base_url: host })).toThrow(/only a team file names it/);
    expect(() => check(host)).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('canary') }),
    );
  });

  test('does not go to the maker of another', () => {
    const other = engine === 'openai' ? 'https://api.anthropic.com' : 'https://api.openai.com';
    expect(() => check(other)).toThrow(/only a team file names it/);
  });

  test('is no hindrance where there is none', () => {
    expect(() => check('http://127.0.0.1:8080', { OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '' })).not.toThrow();
  });
});
