import { bindingsSections } from './bindings/bindings.js';
import { comparisonSection } from './comparison.js';
import { element } from './dom.js';
import { gaiaSections } from './gaia.js';
import { runSection } from './run.js';
import { versusSection } from './versus.js';

/** @typedef {import('../report-html.ts').ReportData} ReportData */

/** @type {ReportData} */
const data = JSON.parse(document.getElementById('data')?.textContent ?? '');
const { bindings, comparison, gaia, runs, versus, version } = data;
const ofBindings = bindings === null ? [] : bindingsSections(bindings);
const ofGaia = gaia === null ? [] : gaiaSections(gaia);

/** @type {[id: string, name: string][]} */
const places = [
  ...[...ofGaia, ...ofBindings].map(({ id, name }) => /** @type {[string, string]} */ ([id, name])),
  ...(comparison === null ? [] : [/** @type {[string, string]} */ (['comparison', 'Adapters'])]),
  ...(versus === null ? [] : [/** @type {[string, string]} */ (['versus', 'Run against run'])]),
  ...runs.map(({ name }, index) => /** @type {[string, string]} */ ([`run-${index + 1}`, name])),
];

const headline =
  gaia?.finding ??
  bindings?.sentence ??
  comparison?.sentence ??
  versus?.finding ??
  runs[0]?.title ??
  'Nothing to report';
document.title = `${headline} · Gaia Mesh`;
document
  .getElementById('report')
  ?.append(
    element(
      'header',
      {},
      element('p', { class: 'wordmark' }, 'Gaia Mesh'),
      element('h1', {}, headline),
      places.length < 2
        ? null
        : element(
            'nav',
            { 'aria-label': 'Sections' },
            ...places.map(([id, name]) => element('a', { href: `#${id}` }, name)),
          ),
    ),
    element(
      'main',
      {},
      ...[...ofGaia, ...ofBindings].map(({ node }) => node),
      ...(comparison === null ? [] : [comparisonSection(comparison)]),
      ...(versus === null ? [] : [versusSection(versus)]),
      ...runs.map((run, index) => runSection(run, index + 1, run.title === headline)),
    ),
    element('footer', {}, `Made by Gaia Mesh ${version}. This page is one file and loads nothing.`),
  );
