// Writes the parts of the pages in docs/ that repeat the code and its tests: npm run docs
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { formatMetricsPage } from './metrics-page.ts';
import { findRequirementTests, withTests } from './requirements-page.ts';

const resolvePage = (name: string) => path.join(codeFolder, 'docs', name);

writeFileSync(resolvePage('metrics.md'), formatMetricsPage());

const page = readFileSync(resolvePage('requirements.md'), 'utf8');
const requirements = findRequirementTests(codeFolder, page);
writeFileSync(resolvePage('requirements.md'), withTests(page, requirements));
const open = requirements.filter(({ tests }) => tests.length === 0).map(({ id }) => id);
console.error(
  `${requirements.length - open.length} of ${requirements.length} requirements are held by a test`,
);
if (open.length > 0) console.error(`without: ${open.join(', ')}`);
