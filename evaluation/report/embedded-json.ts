const ESCAPES: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/**
 * A value as JSON that can stand in a `<script>` element whatever its texts say: without `<` there is no end of the element, no
 * comment and no other element in it. It parses to the same value.
 */
export function embeddedJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[<\u2028\u2029]/g, (character) => ESCAPES[character] ?? character);
}
