import type { ChatRequest, ChatTurn, EngineWork, ToolCall } from '@gaia-mesh/core/contracts/engine.ts';
import { countTokens } from '@gaia-mesh/reader/tokens.ts';
import { FINAL_ANSWER_PREFIX } from '../../answers/answer-format.ts';
import { arithmeticIn } from './arithmetic.ts';
import { type Candidate, type Candidates, candidatesIn } from './candidates.ts';
import { type Heard, hear } from './conversation.ts';
import { type Draws, drawn, withDoubts } from './draw.ts';
import { type Call, openFiles } from './open-files.ts';
import type { EmbeddedSettings } from './settings.ts';

/**
 * The seat of a model: the embedded engine takes part in a conversation as a model does. It asks the tools that it is offered for what was
 * not read yet, and then gives one of its candidates, drawn by their chances. What it was told that its last answer was not lowers that
 * one. Without a candidate that is probable enough it refuses, and says what stood in the way.
 */
export function embeddedChat(settings: EmbeddedSettings, draws: Draws) {
  return (request: ChatRequest, work: EngineWork): ChatTurn => {
    const turn = turnOf(request, work.role ?? '', settings, draws);
    const read = request.messages.reduce((sum, { content }) => sum + countTokens(content), 0);
    const calls = turn.toolCalls.length === 0 ? '' : JSON.stringify(turn.toolCalls);
    work.countTokens(read + countTokens(turn.content) + countTokens(calls));
    return turn;
  };
}

function turnOf(request: ChatRequest, role: string, settings: EmbeddedSettings, draws: Draws): ChatTurn {
  const { temperature, threshold } = settings;
  const heard = hear(request);
  const { matters, calls, lacking } = openFiles(heard);
  if (calls.length > 0) return calling(calls, request);
  const known = heard.found.map((text) => ({ form: 'text' as const, name: '', text }));
  const all = [...matters, ...known];
  const asked = all.length === 0 && lacking === undefined ? arithmeticIn(heard) : undefined;
  if (asked !== undefined && 'call' in asked) return calling([asked.call], request);
  const { candidates, why } =
    asked ?? (all.length === 0 ? stated(heard) : candidatesIn(all, heard, settings));
  const open = withDoubts(candidates, heard.doubted, threshold);
  const chosen = drawn(open, temperature, draws.next(request, role));
  if (chosen === undefined) return refusing(all.length === 0 ? (lacking ?? why) : why);
  const content = heard.asksForFacts ? report(chosen) : reply(chosen);
  return { content, toolCalls: [], finish: 'stop', confidence: chosen.chance };
}

/** What others have come to, where there is nothing to read. */
function stated({ concluded }: Heard): Candidates {
  if (concluded === undefined) return { candidates: [], why: 'there is no text to read' };
  return { candidates: [{ answer: '', chance: 1, evidence: concluded }], why: '' };
}

function reply({ answer, evidence }: Candidate): string {
  return (answer === '' ? evidence : `${evidence}\n\n${FINAL_ANSWER_PREFIX}${answer}`).toWellFormed();
}

/** The same in the form of a report. */
function report({ answer, evidence }: Candidate): string {
  return JSON.stringify({ facts: [{ fact: `${answer} (${evidence})`.toWellFormed(), source: 'the file' }] });
}

function calling(calls: readonly Call[], { messages }: ChatRequest): ChatTurn {
  const toolCalls = calls.map(
    ({ tool, argument, value }, at): ToolCall => ({
      id: `call_${messages.length}_${at}`,
      name: tool,
      arguments: { [argument]: value },
    }),
  );
  const content = calls
    .map(
      ({ tool, argument, value }) => `${argument === 'file' ? 'opens' : 'works out'} ${value} with ${tool}`,
    )
    .join('; ');
  return { content, toolCalls, finish: 'tool_calls' };
}

function refusing(why: string): ChatTurn {
  const content = `The engine extractive answers from texts and tables alone, and ${why}: this question takes a model, such as --engine ollama.`;
  return { content: content.toWellFormed(), toolCalls: [], finish: 'refused' };
}
