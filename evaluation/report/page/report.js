import { blameSections } from './blame/blame.js';
import { comparisonSection } from './comparison/comparison.js';
import { element } from './dom.js';
import { gaiaSections } from './gaia.js';
import { runSection } from './run.js';
import { drawStackSections } from './stacks/stacks.js';
import { versusSection } from './versus.js';

/** @typedef {import('../report-html.ts').ReportData} ReportData */

/**
 * A report: what it says first, and its sections.
 *
 * @param {ReportData} data
 */
export function reportParts({ stacks, blame, comparison, gaia, runs, versus }) {
  const ofStacks = stacks === null ? [] : drawStackSections(stacks);
  const ofGaia = gaia === null ? [] : gaiaSections(gaia);
  const ofBlame = blame === null ? [] : blameSections(blame);
  const sections = [...ofGaia, ...ofBlame, ...ofStacks];
  /** @type {[id: string, name: string][]} */
  const places = [
    ...sections.map(({ id, name }) => /** @type {[string, string]} */ ([id, name])),
    ...(comparison === null ? [] : [/** @type {[string, string]} */ (['comparison', 'Adapters'])]),
    ...(versus === null ? [] : [/** @type {[string, string]} */ (['versus', 'Run against run'])]),
    ...runs.map(({ name }, index) => /** @type {[string, string]} */ ([`run-${index + 1}`, name])),
  ];
  const headline =
    gaia?.finding ??
    blame?.headline ??
    stacks?.sentence ??
    comparison?.sentence ??
    versus?.finding ??
    runs[0]?.title ??
    'Nothing to report';
  const nav =
    places.length < 2
      ? null
      : element(
          'nav',
          { 'aria-label': 'Sections' },
          ...places.map(([id, name]) => element('a', { href: `#${id}` }, name)),
        );
  const nodes = [
    ...sections.map(({ node }) => node),
    ...(comparison === null ? [] : [comparisonSection(comparison)]),
    ...(versus === null ? [] : [versusSection(versus)]),
    ...runs.map((run, index) => runSection(run, index + 1, run.title === headline)),
  ];
  return { headline, nav, nodes };
}
