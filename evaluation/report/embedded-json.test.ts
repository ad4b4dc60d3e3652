import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatEmbeddedJson } from './page-html.ts';

test.each(['</script><script>alert(1)</script>', '<!--<script>', '<![CDATA[ ]]>', 'a\u2028b\u2029c'])(
  '%j is no markup any more and parses to itself',
  (text) => {
    const embedded = formatEmbeddedJson({ [text]: [text] });

    expect(embedded).not.toMatch(/[<\u2028\u2029]/);
    expect(JSON.parse(embedded)).toEqual({ [text]: [text] });
  },
);

test('any value parses to itself, and none holds what opens or ends an element', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const embedded = formatEmbeddedJson(value);
      expect(embedded).not.toContain('<');
      expect(JSON.parse(embedded)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
