import { describe, expect, test } from 'vitest';
import { joinUrl, parseForeignUrl, requireOrigin } from './outgoing-url.ts';

const OWN = 'http://127.0.0.1:9911';

describe('a path of a request', () => {
  test.each([
    ['/', `${OWN}/`],
    ['', `${OWN}/`],
    ['/a/b?c=d%20e', `${OWN}/a/b?c=d%20e`],
    ['//127.0.0.2:9912/steal', `${OWN}//127.0.0.2:9912/steal`],
    ['/%2f%2f127.0.0.2:9912', `${OWN}/%2f%2f127.0.0.2:9912`],
    ['/http://127.0.0.2:9912/', `${OWN}/http://127.0.0.2:9912/`],
    ['/@127.0.0.2:9912/', `${OWN}/@127.0.0.2:9912/`],
  ])('stays on the origin as it stands: %j', (path, url) => {
    expect(joinUrl(OWN, path).href).toBe(url);
    expect(joinUrl(new URL(OWN), path).origin).toBe(OWN);
  });

  test.each([
    'steal',
    '@127.0.0.2:9912/',
    ':80@127.0.0.2/',
    '.evil.com/',
    '0/',
    'http://127.0.0.2:9912/',
    'http:steal',
    '\\\\127.0.0.2:9912/',
    '/\\127.0.0.2:9912/',
    '/\t/127.0.0.2:9912/',
    '\t//127.0.0.2:9912/',
    ' /steal',
    '/steal\n',
    '/a b',
    '/a#b',
    '/../a',
    '/%2e%2e/a',
  ])('is refused that leads away or is read in two ways: %j', (path) => {
    expect(() => joinUrl(OWN, path)).toThrow('expected a path of the server');
  });

  test('comes below the path of its base, and does not leave it', () => {
    expect(joinUrl(`${OWN}/v1`, '/models').href).toBe(`${OWN}/v1/models`);
    expect(joinUrl(`${OWN}/v1/`, '/models').href).toBe(`${OWN}/v1/models`);
    expect(joinUrl(`${OWN}/rpc/`, '').href).toBe(`${OWN}/rpc/`);
    expect(() => joinUrl(`${OWN}/v1`, '/../models')).toThrow('below http://127.0.0.1:9911/v1');
    expect(() => joinUrl(`${OWN}/v1?key=x`, '/models')).toThrow('expected a path of the server');
    expect(() => joinUrl('data:x', '/models')).toThrow('expected a path of the server');
  });
});

describe('a URL of somebody else’s', () => {
  test.each([
    ['http://127.0.0.1:9911/a?b#c', 'http://127.0.0.1:9911'],
    ['HTTPS://Example.com:443', 'https://example.com'],
    ['http://localhost.evil.com/', 'http://localhost.evil.com'],
    ['http://localhost./', 'http://localhost.'],
    ['http://2130706434/', 'http://127.0.0.2'],
    ['http://0x7f.2/', 'http://127.0.0.2'],
    ['http://0177.0.0.2/', 'http://127.0.0.2'],
    ['http://[::ffff:127.0.0.2]/', 'http://[::ffff:7f00:2]'],
    ['http://127。0。0。2/', 'http://127.0.0.2'],
  ])('is read as a request would read it: %j', (text, origin) => {
    expect(parseForeignUrl(text)?.origin).toBe(origin);
  });

  test.each([
    '',
    '/x',
    '//127.0.0.2/x',
    'http:',
    'http://',
    'http:///127.0.0.2/',
    'http:/127.0.0.2/',
    'http:127.0.0.2/',
    'http:\\\\127.0.0.2/',
    'http://127.0.0.2\\@127.0.0.1/',
    'http://127.0.0.1\\x',
    'http://a:b@127.0.0.1/',
    'http://@127.0.0.1/',
    ' http://127.0.0.1/',
    'ht\ttp://127.0.0.1/',
    'http://127.0.0.1/\n',
    'http://127.0.0.1/\u00a0',
    'http://127.0.0.1:99999/',
    'http://a%2fb/',
    'ftp://127.0.0.1/',
    'file:///etc/passwd',
    `http://127.0.0.1/${'x'.repeat(9000)}`,
  ])('is none: %j', (text) => {
    expect(parseForeignUrl(text)).toBeUndefined();
  });
});

test('a library’s request to another server is refused', () => {
  expect(() => requireOrigin(`${OWN}/mcp`, `${OWN}/other`)).not.toThrow();
  expect(() => requireOrigin(OWN, new Request(`${OWN}/x`))).not.toThrow();
  for (const url of ['http://127.0.0.2:9911/', 'https://127.0.0.1:9911/', 'http://127.0.0.1:9912/'])
    expect(() => requireOrigin(OWN, new URL(url))).toThrow(`expected one to ${OWN}`);
});
