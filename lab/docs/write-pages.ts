// Writes what generated pages repeat of the code and its tests: npm run docs
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { listMeasuredPages, markAge } from '@gaia-mesh/evaluation/terminal/docs-page.ts';
import { formatMetricsPage } from './metrics-page.ts';
import { findRequirementTests, withTests } from './requirements-page.ts';

writeFileSync(path.join(codeFolder, 'docs', 'metrics.md'), formatMetricsPage());

for (const [name, { subject }] of listMeasuredPages()) {
  const file = path.join(codeFolder, name);
  writeFileSync(file, markAge(name, readFileSync(file, 'utf8'), subject));
}

const requirementsFile = path.join(codeFolder, 'lab', 'docs', 'requirements.md');
const page = readFileSync(requirementsFile, 'utf8');
const requirements = findRequirementTests(codeFolder, page);
writeFileSync(requirementsFile, withTests(page, requirements));
const open = requirements.filter(({ tests }) => tests.length === 0).map(({ id }) => id);
console.error(
  `${requirements.length - open.length} of ${requirements.length} requirements are held by a test`,
);
if (open.length > 0) console.error(`without: ${open.join(', ')}`);
