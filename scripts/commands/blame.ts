import { writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { createBatchProgress } from '@gaia-mesh/evaluation/batch/batch-progress.ts';
import { createRedactor } from '@gaia-mesh/evaluation/batch/redact.ts';
import { blame } from '@gaia-mesh/evaluation/blame/blame.ts';
import type { BlameFile } from '@gaia-mesh/evaluation/blame/blame-file.ts';
import { type BlameOptions, blamePlan, blameTable } from '@gaia-mesh/evaluation/blame/blame-plan.ts';
import { formatDifference } from '@gaia-mesh/evaluation/blame/blame-results.ts';
import { shortenPath } from '@gaia-mesh/evaluation/plan/batch-places.ts';
import { fillPage } from '@gaia-mesh/evaluation/report/page-html.ts';
import { formatJson, print, printError, printText } from '@gaia-mesh/evaluation/terminal/print.ts';
import {
  count,
  formatDecimals,
  formatPercent,
  formatTable,
  toOneLine,
  wrapText,
} from '@gaia-mesh/evaluation/terminal/table.ts';
import type { Command } from 'commander';
import { endToExitCode } from '../command-line/exit-code.ts';
import { handleInterrupt } from '../command-line/interruptible.ts';
import { loadKeys } from '../command-line/load-keys.ts';
import { defineOptions } from '../command-line/options.ts';
import { resumption } from '../command-line/resume-command.ts';

/** Defines `gaia blame`, which finds the message that made an answer wrong. */
export function blameCommand(command: Command): void {
  defineOptions(command, blameTable, run);
}

const ANSWER_COLUMNS = 60;

/** Formats the result for people: the verdict first, then each message. */
function blameText(file: BlameFile): string {
  const { question, truth, answer, correct, outset, branches, margin, messages } = file;
  const cost = branches.cost === null || branches.cost === 0 ? '' : `, $${branches.cost.toFixed(4)}`;
  return [
    `question  ${toOneLine(question, ANSWER_COLUMNS)}`,
    `truth     ${toOneLine(truth, ANSWER_COLUMNS)}`,
    `answer    ${toOneLine(answer, ANSWER_COLUMNS)} (${correct ? 'right' : 'wrong'})`,
    '',
    wrapText(file.headline),
    '',
    formatTable(buildBlameRows(messages), ['own', 'to', 'interval']),
    '',
    wrapText(
      `Asked again, the question is answered right in ${formatPercent(outset.chance)} of ${outset.tries} tries. Right: the chance when the messages up to this one are replayed. Again: the chance when its sender answers anew instead, with the change and its 95 % interval. Truth: the chance with the true answer in its place. Own: the chance of another answer than the recorded one when its sender answers anew. No effect: changes of less than ${formatDecimals(margin, 2)}. Suspects are judged by fresh tries alone.`,
    ),
    `${count(branches.asked)} branches, ${count(branches.failed)} without an answer; ${formatTokens(branches)}${cost}`,
    ...(branches.departed === 0
      ? []
      : [
          wrapText(
            `${count(branches.departed)} branches departed from the recording and are left out. The first: ${file.departed ?? ''}`,
          ),
        ]),
    '',
  ].join('\n');
}

/** Formats the tokens of the branches, with their bound's measure. */
function formatTokens({ tokens, own_tokens }: BlameFile['branches']): string {
  if (tokens === null) return '– tokens';
  const times =
    own_tokens === 0 ? '' : `, ${formatDecimals(tokens / own_tokens, 1)} times those of the question`;
  return `${count(tokens)} tokens${times}`;
}

function buildBlameRows(messages: BlameFile['messages']): string[][] {
  const heading = ['message', 'from', 'to', 'type', 'right', 'again', 'interval', 'own', 'truth', 'verdict'];
  return [
    heading,
    ...messages.map(({ place, from, to, type, chance, again, own, replaced, verdict }) => [
      String(place),
      from,
      to ?? 'all',
      type,
      formatPercent(chance),
      formatPercent(again.chance),
      formatDifference(again),
      formatPercent(own.chance),
      replaced.truth === undefined ? '–' : formatPercent(replaced.truth.chance),
      verdict,
    ]),
  ];
}

/** Runs the branches of a question that was answered wrong, and prints which message was to blame. */
async function run(options: BlameOptions): Promise<void> {
  loadKeys();
  const interruption = handleInterrupt('blame');
  const plan = await blamePlan(options);
  const { messages } = plan.recorded;
  // More branches follow, where the first ones leave doubts.
  const first = (messages.length + 1) * plan.tries;
  const progress = await createBatchProgress(first, 'branches');
  for (const warning of plan.warnings) progress.note(warning);
  progress.note(
    `${messages.length} ${messages.length === 1 ? 'message' : 'messages'} of team ${plan.team.team.name}; ${first} branches at first, then more for suspects and where it is undecided, live with ${plan.team.fingerprint.model}`,
  );
  const { found, end } = await blame(plan, {
    redact: createRedactor(process.env),
    onEvent: (event) => progress.event(event),
    onPlanned: (branches) => progress.setTotal(Math.max(first, branches)),
    signal: interruption.signal,
    observer: progress.observer,
  }).finally(() => progress.end());
  const text = formatJson(found);
  // Findings that cost tokens are shown first, since the disk may have no room for them.
  printText(options.json ? text : `\n${blameText(found)}`);
  writeWhole(plan.findings.json, text);
  writeWhole(plan.findings.page, fillPage({ kind: 'blame', blame: found }).html);
  const written = `${shortenPath(plan.findings.page)} and ${shortenPath(plan.findings.json)}`;
  if (end.kind !== 'finished') {
    printError(
      `Blame ended early: ${end.reason}. Partial results: ${written}. To go on: ${resumption.command(end)}`,
    );
    process.exitCode = endToExitCode(end);
  } else if (options.json) printError(`written: ${written}`);
  else print(`✅ DONE → See ${written}`);
}
