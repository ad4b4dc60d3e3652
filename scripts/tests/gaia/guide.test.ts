import { readFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { listTeamFiles } from '@gaia-mesh/evaluation/teams/load-team.ts';
import { SERVICES } from '@gaia-mesh/tools/web/services.ts';
import { describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';

const guide = readFileSync(path.join(codeFolder, 'docs', 'gaia.md'), 'utf8');

describe('docs/gaia.md', () => {
  test.each(Object.entries(SERVICES))('names the variables of %s', (_name, service) => {
    const variables = [service.variable, service.sharedVariable, ...(service.keys ?? [])];
    for (const variable of variables) if (variable !== undefined) expect(guide).toContain(`\`${variable}\``);
  });

  test('has a row for every team', () => {
    for (const team of listTeamFiles().keys()) expect(guide).toMatch(new RegExp(`^\\| \`${team}\` \\|`, 'm'));
  });

  test('uses no option that its commands do not have', async () => {
    const helps = await Promise.all(
      [['gaia'], ['gaia', 'gaps'], ['gaia', 'blame'], ['report'], ['clean'], ['model', 'install']].map(
        (name) => callCli([...name, '--help', '--all']),
      ),
    );
    const known = helps.flatMap(({ stdout }) => stdout.match(/--[a-z-]+/g) ?? []);
    const commands = [...guide.matchAll(/^npm run (?:gaia|report|clean)\b.*$/gm)].map(([line]) => line);

    expect(commands.length).toBeGreaterThan(6);
    for (const option of commands.flatMap((line) => line.match(/--[a-z-]+/g) ?? []))
      expect(known).toContain(option);
    for (const [, option] of guide.matchAll(/`(--[a-z-]+)/g))
      expect([...known, '--permission']).toContain(option);
  });
});
