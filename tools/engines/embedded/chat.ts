import { createHash } from 'node:crypto';
import type { ChatRequest, ChatTurn, EngineWork, ToolCall } from '@gaia-mesh/core/contracts/engine.ts';
import { hashRequest } from '@gaia-mesh/core/contracts/model-exchange.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { MIN_CHANCE } from '@gaia-mesh/reader/reason.ts';
import { countTokens } from '@gaia-mesh/reader/tokens.ts';
import { cleanAnswer, hasStatedAnswer } from '../../answers/clean-answer.ts';
import { type Candidate, type Candidates, findCandidates } from './candidates.ts';
import { type InboundConversation, parseConversation } from './conversation.ts';
import { type Call, openFiles } from './open-files.ts';
import type { EmbeddedSettings } from './settings.ts';
import { findCalculation } from './worded-arithmetic.ts';

const MAX_MARK = 10;
/** Matches the end of a text that was cut: part of a table would lead to a wrong verdict. */
const CUT = /… \[cut: \d+ characters in all\]$/;

/**
 * Replies as a critic to its prompt's variables: reads the document itself, and rates an answer by its probability relative to the most
 * probable one. Undefined if it cannot judge: the work states no answer, or there is nothing to read.
 */
export function judgeAnswer(
  variables: Readonly<Record<string, string>>,
  settings: EmbeddedSettings,
): JsonObject | undefined {
  const { work = '', document = '' } = variables;
  const answer = hasStatedAnswer(work) ? cleanAnswer(work) : null;
  if (answer === null || CUT.test(document)) return undefined;
  const parts = ['question', 'file', 'document'].map((name) => {
    return { kind: 'peer' as const, name, text: variables[name] ?? '' };
  });
  const inbound = parseConversation({ messages: [{ role: 'user', content: '', parts }] });
  const { matters } = openFiles(inbound);
  if (matters.length === 0) return undefined;
  const { candidates } = findCandidates(matters, inbound, { ...settings, threshold: 0 });
  const own = candidates.find((one) => (cleanAnswer(one.answer) ?? one.answer) === answer);
  const most = candidates[0]?.chance ?? 0;
  if (own === undefined || most === 0) return undefined;
  const chance = own.chance / most;
  const weaknesses = chance < 1 ? ['the document gives another answer that is more probable'] : [];
  const quality = Math.round(10 * MAX_MARK * chance) / 10;
  return { quality, relevance: MAX_MARK, missing: [], weaknesses, suggestions: [] };
}

/** Factor for the chance of an answer that was rejected before. */
const DOUBTED_SHARE = 0.1;
/** Requests whose draws are counted; then counting begins anew. A batch asks one agent less often. */
const MAX_COUNTED = 50_000;

/** Draws replies: the same seed, role and request give the same sequence of draws. */
class Draws {
  readonly #seed: number;
  readonly #times = new Map<string, number>();

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Returns random numbers for the next reply to a request. */
  next(request: ChatRequest, role: string): Random {
    const key = hashRequest({ messages: request.messages, tools: request.tools ?? [], schema: undefined });
    if (this.#times.size >= MAX_COUNTED) this.#times.clear();
    const times = this.#times.get(key) ?? 0;
    this.#times.set(key, times + 1);
    const digest = createHash('sha256')
      .update(JSON.stringify([this.#seed, role, key, times]))
      .digest();
    return new Random(digest.readUIntBE(0, 6));
  }
}

/** Lowers rejected answers, and drops those that are then too improbable. Most probable first. */
function withDoubts(
  candidates: readonly Candidate[],
  doubted: ReadonlySet<string>,
  threshold: number,
): Candidate[] {
  if (doubted.size === 0) return [...candidates];
  const isDoubted = ({ answer }: Candidate) => doubted.has(cleanAnswer(answer) ?? answer);
  return candidates
    .map((one) => (isDoubted(one) ? { ...one, chance: one.chance * DOUBTED_SHARE } : one))
    .filter((one) => !isDoubted(one) || one.chance >= threshold)
    .sort((a, b) => b.chance - a.chance);
}

/** Draws a candidate by the softmax of their scores over the temperature; at 0 the most probable. */
function drawCandidate(
  candidates: readonly Candidate[],
  temperature: number,
  random: Random,
): Candidate | undefined {
  const [best] = candidates;
  if (best === undefined || temperature === 0) return best;
  const weights = candidates.map(({ chance }) => (chance / best.chance) ** (1 / temperature));
  let left = random.uniform() * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [at, weight] of weights.entries()) {
    left -= weight;
    if (left < 0) return candidates[at];
  }
  return best;
}

/** The prefix of an answer in a text that is passed on. */
const FINAL_ANSWER_PREFIX = 'FINAL ANSWER: ';

/**
 * Creates the embedded engine's part in a conversation, in place of a model. It calls the offered tools for files that it has not read
 * yet, and then gives one of its candidates, drawn by their probabilities. A rejected answer becomes less probable. Without a candidate
 * that is probable enough it refuses and gives the reason.
 */
export function createEmbeddedChat(settings: EmbeddedSettings) {
  const draws = new Draws(settings.seed);
  return (request: ChatRequest, work: EngineWork): ChatTurn => {
    const turn = takeTurn(request, work.role ?? '', settings, draws);
    const read = request.messages.reduce((sum, { content }) => sum + countTokens(content), 0);
    const calls = turn.toolCalls.length === 0 ? '' : JSON.stringify(turn.toolCalls);
    work.countTokens(read + countTokens(turn.content) + countTokens(calls));
    return turn;
  };
}

const TOOL = 'calculator';

/**
 * Finds a calculation in the question, if a calculator is offered: returns its call, and later its result. Undefined if there is no
 * calculation or no calculator. A number outside the calculation is a condition that it ignores, so there is no answer.
 */
function solveArithmetic({
  question,
  tools,
  results,
}: InboundConversation): { readonly call: Call } | Candidates | undefined {
  if (!tools.some(({ name }) => name === TOOL)) return undefined;
  const found = findCalculation(question);
  if (found === undefined) return undefined;
  const { expression, toAnswer, ignored } = found;
  if (ignored.length > 0)
    return { candidates: [], why: `its calculation ${expression} ignores ${ignored.join(', ')}` };
  const result = results.find(({ tool, argument }) => tool === TOOL && argument === expression);
  if (result === undefined) return { call: { tool: TOOL, argument: 'expression', value: expression } };
  const text = result.text.trim();
  if (text.startsWith('Error:')) return { candidates: [], why: text.slice('Error:'.length).trim() };
  return {
    candidates: [{ answer: toAnswer(text), chance: 1, evidence: `${expression} is ${text}` }],
    why: '',
  };
}

function takeTurn(request: ChatRequest, role: string, settings: EmbeddedSettings, draws: Draws): ChatTurn {
  const { temperature, threshold } = settings;
  const inbound = parseConversation(request);
  const { matters, calls, lacking } = openFiles(inbound);
  if (calls.length > 0) return buildCallTurn(calls, request);
  const known = inbound.found.map((text) => ({ form: 'text' as const, name: '', text }));
  const all = [...matters, ...known];
  const asked = all.length === 0 && lacking === undefined ? solveArithmetic(inbound) : undefined;
  if (asked !== undefined && 'call' in asked) return buildCallTurn([asked.call], request);
  const { candidates, why } =
    asked ?? (all.length === 0 ? collectStated(inbound) : findCandidates(all, inbound, settings));
  const open = withDoubts(candidates, inbound.doubted, threshold ?? MIN_CHANCE);
  const chosen = drawCandidate(open, temperature, draws.next(request, role));
  if (chosen === undefined) return buildRefusalTurn(all.length === 0 ? (lacking ?? why) : why);
  const content = inbound.asksForFacts ? formatReport(chosen) : formatReply(chosen);
  return { content, toolCalls: [], finish: 'stop', confidence: chosen.chance };
}

/** Returns the conclusion of others if there is nothing to read. */
function collectStated({ concluded }: InboundConversation): Candidates {
  if (concluded === undefined) return { candidates: [], why: 'there is no text to read' };
  return { candidates: [{ answer: '', chance: 1, evidence: concluded }], why: '' };
}

function formatReply({ answer, evidence }: Candidate): string {
  return (answer === '' ? evidence : `${evidence}\n\n${FINAL_ANSWER_PREFIX}${answer}`).toWellFormed();
}

/** Formats a candidate as a report of facts. */
function formatReport({ answer, evidence }: Candidate): string {
  return JSON.stringify({ facts: [{ fact: `${answer} (${evidence})`.toWellFormed(), source: 'the file' }] });
}

function buildCallTurn(calls: readonly Call[], { messages }: ChatRequest): ChatTurn {
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

function buildRefusalTurn(why: string): ChatTurn {
  const content = why.startsWith('Not sure')
    ? `${why}. The engine extractive reads texts and tables alone: a model, such as --engine ollama, may know more.`
    : `The engine extractive answers from texts and tables alone, and ${why}: this question takes a model, such as --engine ollama.`;
  return { content: content.toWellFormed(), toolCalls: [], finish: 'refused' };
}
