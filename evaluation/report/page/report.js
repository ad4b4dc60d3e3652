import { bindingsSections } from './bindings/bindings.js';
import { blameSections } from './blame/blame.js';
import { comparisonSection } from './comparison/comparison.js';
import { element } from './dom.js';
import { gaiaSections } from './gaia.js';
import { runSection } from './run.js';
import { versusSection } from './versus.js';

/** @typedef {import('../report-html.ts').ReportData} ReportData */

/**
 * A report: what it says first, and its sections.
 *
 * @param {ReportData} data
 */
export function reportParts({ bindings, blame, comparison, gaia, runs, versus }) {
  const ofBindings = bindings === null ? [] : bindingsSections(bindings);
  const ofGaia = gaia === null ? [] : gaiaSections(gaia);
  const ofBlame = blame === null ? [] : blameSections(blame);
  const sections = [...ofGaia, ...ofBlame, ...ofBindings];
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
    bindings?.sentence ??
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
