import { describe, expect, test } from 'vitest';
import { chooseDownloadName, toSafeName } from './save-download.ts';

describe('a name for a download (RA-52)', () => {
  test.each([
    ['report.pdf', 'report.pdf'],
    ['Über uns (2).txt', 'Über uns (2).txt'],
    ['../../etc/passwd', 'passwd'],
    ['..\\..\\windows\\system.ini', 'system.ini'],
    ['/etc/shadow', 'shadow'],
    ['C:\\temp\\a.txt', 'a.txt'],
    ['a/b/', 'b'],
    ['..', 'download'],
    ['.', 'download'],
    ['...', 'download'],
    ['', 'download'],
    ['/', 'download'],
    ['.env', 'env'],
    ['..bashrc', 'bashrc'],
    ['-rf', 'rf'],
    ['a.txt.', 'a.txt'],
    ['a.txt ', 'a.txt'],
    ['a\0.txt', 'a_.txt'],
    ['a\nb\x1b[31m.txt', 'a_b__31m.txt'],
    ['right\u202etxt.exe', 'right_txt.exe'],
    ['???', 'download'],
  ])('%j becomes %j', (name, safe) => {
    expect(toSafeName(name)).toBe(safe);
  });

  test.each(['a;rm -rf ~.txt', '$(reboot).txt', '`id`.csv', 'a|b&c>d.txt', 'a*?"<>:.txt'])(
    '%j holds nothing that a shell reads (RA-53)',
    (name) => {
      expect(toSafeName(name)).toMatch(/^[A-Za-z0-9 ._()-]+\.(txt|csv)$/);
    },
  );

  test('is cut to what file systems take, and keeps its extension', () => {
    const name = toSafeName(`${'ü'.repeat(500)}.xlsx`);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(120);
    expect(name).toMatch(/^ü+\.xlsx$/);
    expect(Buffer.byteLength(toSafeName('😀'.repeat(100)))).toBeLessThanOrEqual(120);
    expect(Buffer.byteLength(toSafeName(`a.${'x'.repeat(5000)}`))).toBeLessThanOrEqual(120);
  });
});

describe('a file’s own name', () => {
  test.each([
    ['https://a.example/x/report.pdf?v=1', 'application/pdf', undefined, 'report.pdf'],
    ['https://a.example/x/report', 'application/pdf', undefined, 'report.pdf'],
    ['https://a.example/', 'text/html', undefined, 'download.html'],
    ['https://a.example/a%20b%2Fc.csv', 'text/csv', undefined, 'c.csv'],
    ['https://a.example/100%.csv', 'text/csv', undefined, '100_.csv'],
    ['https://a.example/get', 'text/csv', 'attachment; filename="the table.csv"', 'the table.csv'],
    ['https://a.example/get', 'text/csv', 'attachment; filename=table.csv; size=3', 'table.csv'],
    ['https://a.example/get', '', 'attachment; filename="x.txt"; filename*=UTF-8\'\'%C3%BC.txt', 'ü.txt'],
    ['https://a.example/get', '', 'attachment; filename="../../.ssh/authorized_keys"', 'authorized_keys'],
    ['https://a.example/get', 'x/unknown', undefined, 'get'],
  ])('of %s (%s, %s) is %s', (url, mediaType, disposition, name) => {
    expect(chooseDownloadName(url, mediaType, disposition)).toBe(name);
  });
});
