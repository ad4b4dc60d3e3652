import { describe, expect, test } from 'vitest';
import { readServiceKey, resolveServiceUrl, SERVICES } from './services.ts';

describe('the address of a service', () => {
  test('is the public one unless the environment moves it, and has no slash at its end', () => {
    expect(resolveServiceUrl('tavily', {})).toBe('https://api.tavily.com');
    expect(resolveServiceUrl('tavily', { TAVILY_BASE_URL: '' })).toBe('https://api.tavily.com');
    expect(resolveServiceUrl('tavily', { TAVILY_BASE_URL: 'http://127.0.0.1:8/proxy/' })).toBe(
      'http://127.0.0.1:8/proxy',
    );
  });

  test('of OpenAI’s two moves with one variable, and each with its own', () => {
    const environment = { OPENAI_BASE_URL: 'http://a/v1', WHISPER_BASE_URL: 'http://b' };
    expect(resolveServiceUrl('vision', environment)).toBe('http://a/v1');
    expect(resolveServiceUrl('whisper', environment)).toBe('http://b/v1');
  });

  test('that is nowhere by default must be set', () => {
    expect(() => resolveServiceUrl('searxng', {})).toThrow(
      'no searxng server is known: set SEARXNG_URL to its address',
    );
  });

  test.each([
    ['example.org', 'TAVILY_BASE_URL must be an http or https URL'],
    ['file:///x', 'TAVILY_BASE_URL must be an http or https URL'],
    ['https://me:secret@example.org', 'TAVILY_BASE_URL must be given without a password'],
  ])('must not be %s', (url, message) => {
    expect(() => resolveServiceUrl('tavily', { TAVILY_BASE_URL: url })).toThrow(message);
  });

  test('is moved by a variable that no other service has', () => {
    const variables = Object.values(SERVICES).map(({ variable }) => variable);
    expect(new Set(variables).size).toBe(variables.length);
    expect(variables.filter((name) => !name.endsWith('_BASE_URL'))).toEqual(['SEARXNG_URL']);
  });
});

test('the first key that is set wins', () => {
  expect(readServiceKey('vision', { OPENAI_API_KEY: 'b' })).toBe('b');
  expect(readServiceKey('vision', { OPENAI_API_KEY: 'b', VISION_API_KEY: 'a' })).toBe('a');
  expect(readServiceKey('vision', { VISION_API_KEY: '' })).toBeUndefined();
  expect(readServiceKey('wikipedia', {})).toBeUndefined();
});
