import type { Tool } from '@gaia-mesh/core/contracts/tool.ts';
import * as z from 'zod';
import { type Fact, factSchema, formatFacts, REPORT_FORMAT } from '../../answers/fact.ts';
import { readJson } from '../../engines/replies/json-reply.ts';
import { attachedShape, formatAttached } from '../attached.ts';
import { converse } from '../conversation/conversation.ts';
import { createRoleTool } from '../role-tool.ts';

const researchInput = z.object({
  question: z.string(),
  /** The thing that this step of the plan is to find out. */
  task: z.string(),
  ...attachedShape,
  /** Results of the steps before this one (REQ-049). */
  known: z.array(factSchema),
  /** The facts as reported before and the critic's remarks on them; empty the first time. */
  last: z.array(factSchema),
  feedback: z.string(),
});

export const researchReply = z.object({ facts: z.array(factSchema).min(1).max(50) });

/** Researches one step of a plan in a loop with the information tools (REQ-022), and lists the facts (REQ-047). */
export const research: Tool = createRoleTool({
  name: 'research',
  description: 'finds facts and their sources for one step of a plan, with the information tools',
  input: researchInput,
  async run(input, work) {
    const { question, task, known, last, feedback } = input;
    const { text, ended } = await converse(
      work,
      'research',
      {
        question,
        task,
        file: formatAttached(input),
        known: formatFacts(known),
        last: formatFacts(last),
        feedback,
        report_format: REPORT_FORMAT,
      },
      { findFault: (said) => parseReport(said).fault },
    );
    const report = parseReport(text);
    // A report in another form is still a finding; only a role that gave up found nothing.
    const facts = report.facts ?? [
      ended === 'gave_up' ? createMissingFact(task, text) : createFoundFact(text, 'the report'),
    ];
    work.result(formatFacts(facts));
    return { facts };
  },
});

/** Returns the facts of a report, or what is wrong with its form, in words for the model. */
function parseReport(text: string): { readonly facts?: Fact[]; readonly fault?: string } {
  // Models like to write something before and after the JSON.
  const json = text.includes('{') ? text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1) : text;
  const read = readJson(json, researchReply);
  if (read.fault !== undefined) {
    return { fault: `Your report cannot be used: ${read.fault}. Reply with the JSON only.` };
  }
  return { facts: researchReply.parse(read.value).facts };
}

/** Creates the fact that something was not found: nothing is invented (REQ-050). */
function createMissingFact(task: string, why: string): Fact {
  return { fact: task, source: why.slice(0, 2000).toWellFormed(), found: false, conflict: '' };
}

function createFoundFact(fact: string, source: string): Fact {
  return { fact, source, found: true, conflict: '' };
}
