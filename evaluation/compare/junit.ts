import type { ThresholdResult } from '../statistics/thresholds.ts';

/**
 * Thresholds as a JUnit report, which CI servers read: a test case each, failed where its condition holds. The format is that of
 * Ant's junitreport, which has no standard but is what all of them accept.
 */
export function junitOf(results: readonly ThresholdResult[]): string {
  const failures = results.filter(({ failed }) => failed).length;
  const cases = results.map(({ text, failed, left, right }) => {
    const name = `    <testcase classname="gaia-mesh.compare" name="${escaped(text)}"`;
    if (!failed) return `${name}/>`;
    const message = escaped(`${text}: ${left} against ${right}`);
    return `${name}>\n      <failure message="${message}"/>\n    </testcase>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites tests="${results.length}" failures="${failures}">`,
    `  <testsuite name="gaia-mesh compare" tests="${results.length}" failures="${failures}" errors="0" skipped="0">`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** XML 1.0 has no way at all to write most control characters. */
function escaped(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\uFFFE\uFFFF]/gu, ' ')
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
