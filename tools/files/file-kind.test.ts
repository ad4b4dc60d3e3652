import { expect, test } from 'vitest';
import { detectFileKind } from './file-kind.ts';

const detect = (head: string) => {
  const kind = detectFileKind(Buffer.from(head, 'latin1'));
  return kind !== undefined && 'mediaType' in kind ? kind.mediaType : kind?.kind;
};

test.each([
  ['PK\x03\x04', 'zip'],
  ['%PDF-1.7', 'pdf'],
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff\xe0', 'image/jpeg'],
  ['GIF89a', 'image/gif'],
  ['RIFF\x10\0\0\0WEBPVP8 ', 'image/webp'],
  ['BM\x10\0\0\0\0\0\0\0', 'image/bmp'],
  ['RIFF\x10\0\0\0WAVEfmt ', 'audio/wav'],
  ['fLaC\0', 'audio/flac'],
  ['OggS\0', 'audio/ogg'],
  ['\0\0\0\x20ftypM4A ', 'audio/mp4'],
  ['\x1aE\xdf\xa3', 'audio/webm'],
  ['ID3\x03', 'audio/mp3'],
  ['\xff\xfb\x90', 'audio/mp3'],
  ['\x1f\x8b\x08', 'other'],
])('%j is %s', (head, kind) => {
  expect(detect(head)).toBe(kind);
});

test.each(['', 'BMW builds cars', 'The ftyp box', 'ID3 is a tag', 'RIFF', '\xff\xfea\0b\0', '\xfe\xff\0a'])(
  '%j begins a text',
  (head) => {
    expect(detect(head)).toBeUndefined();
  },
);
