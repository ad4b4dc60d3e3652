import type { ThresholdResult } from '../../statistics/thresholds.ts';

/**
 * Formats thresholds as a JUnit report, which CI servers read: one test case each, failed if its condition holds and skipped if the
 * measurement cannot tell. The format is that of Ant's junitreport, which has no standard but is accepted by all of them.
 */
export function formatJunit(results: readonly ThresholdResult[]): string {
  const of = (wanted: ThresholdResult['outcome']) =>
    results.filter(({ outcome }) => outcome === wanted).length;
  const [failures, skipped] = [of('failed'), of('cannot tell')];
  const cases = results.map(({ text, outcome, found }) => {
    const name = `    <testcase classname="gaia-mesh.compare" name="${escapeXml(text)}"`;
    if (outcome === 'held') return `${name}/>`;
    const element = outcome === 'failed' ? 'failure' : 'skipped';
    const message = escapeXml(outcome === 'failed' ? `${text}: ${found}` : `cannot tell: ${found}`);
    return `${name}>\n      <${element} message="${message}"/>\n    </testcase>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites tests="${results.length}" failures="${failures}">`,
    `  <testsuite name="gaia-mesh compare" tests="${results.length}" failures="${failures}" errors="0" skipped="${skipped}">`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes a text for XML 1.0, which cannot represent most control characters. */
function escapeXml(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\uFFFE\uFFFF]/gu, ' ')
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
