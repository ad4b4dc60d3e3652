/**
 * @typedef {import('./events.js').WatchEvent} WatchEvent
 * @typedef {Extract<WatchEvent, { kind: 'question' }>} QuestionEvent
 * @typedef {Extract<WatchEvent, { kind: 'run' }>} RunEvent
 * @typedef {{ tool: string, state: 'up' | 'lost' | 'waits', text: string, packets: number, bytes: number, tokens: number }} AgentState
 * @typedef {{ count: number, ms: number[], bytes: number | null }} ArmState
 *
 * What is known at a moment, from the events up to it.
 * @typedef {object} WatchState
 * @property {number} at
 * @property {RunEvent | null} run
 * @property {RunEvent[]} runs
 * @property {Map<string, AgentState>} agents
 * @property {Map<string, QuestionEvent>} questions in the order in which something was last said of them
 * @property {{ asked: number, ended: number, answered: number, right: number, scored: number, cost: number, priced: number, isCostKnown: boolean }} score
 * @property {{ packets: number, bytes: number, tokens: number, unshown: number }} totals
 * @property {Map<string, number>} faults
 * @property {Map<string, ArmState>} arms
 * @property {{ share: number, text: string } | null} progress
 * @property {string | null} end
 */

/** @returns {WatchState} */
export function noState() {
  return {
    at: 0,
    run: null,
    runs: [],
    agents: new Map(),
    questions: new Map(),
    score: { asked: 0, ended: 0, answered: 0, right: 0, scored: 0, cost: 0, priced: 0, isCostKnown: true },
    totals: { packets: 0, bytes: 0, tokens: 0, unshown: 0 },
    faults: new Map(),
    arms: new Map(),
    progress: null,
    end: null,
  };
}

/** Samples of an arm that its median is taken of. */
const MAX_SAMPLES = 1000;

/**
 * Takes one more event in.
 *
 * @param {WatchState} state
 * @param {WatchEvent} event
 */
export function advance(state, event) {
  state.at = event.at;
  switch (event.kind) {
    case 'run':
      Object.assign(state, { ...noState(), at: event.at, runs: [...state.runs, event], run: event });
      for (const { id, tool } of event.agents)
        state.agents.set(id, { tool, state: 'waits', text: '', packets: 0, bytes: 0, tokens: 0 });
      break;
    case 'agent':
      Object.assign(findAgent(state, event.id), { state: event.state, text: event.text });
      break;
    case 'question':
      takeQuestion(state, event);
      break;
    case 'totals': {
      const { packets, bytes, tokens, unshown } = event;
      state.totals = { packets, bytes, tokens, unshown };
      for (const [id, counts] of Object.entries(event.agents)) {
        const agent = Object.assign(findAgent(state, id), counts);
        // One that nobody started here is there when it says something.
        if (agent.state === 'waits') agent.state = 'up';
      }
      state.faults = new Map(Object.entries(event.faults));
      break;
    }
    case 'sample': {
      const arm = state.arms.get(event.arm) ?? { count: 0, ms: [], bytes: null };
      arm.count += 1;
      arm.bytes = event.bytes ?? arm.bytes;
      if (event.ms !== null && arm.ms.length < MAX_SAMPLES) arm.ms.push(event.ms);
      state.arms.set(event.arm, arm);
      break;
    }
    case 'progress':
      state.progress = { share: event.share, text: event.text };
      break;
    case 'end':
      state.end = event.text;
      break;
  }
}

/**
 * @param {WatchState} state
 * @param {string} id
 */
function findAgent(state, id) {
  const known = state.agents.get(id);
  if (known !== undefined) return known;
  /** @type {AgentState} */
  const fresh = { tool: '', state: 'up', text: '', packets: 0, bytes: 0, tokens: 0 };
  state.agents.set(id, fresh);
  return fresh;
}

/**
 * @param {WatchState} state
 * @param {QuestionEvent} event
 */
function takeQuestion(state, event) {
  const before = state.questions.get(event.id);
  if (before !== undefined) count(state.score, before, -1);
  const after = { ...before, ...event };
  count(state.score, after, 1);
  state.questions.delete(event.id);
  state.questions.set(event.id, after);
}

/**
 * @param {WatchState['score']} score
 * @param {QuestionEvent} question
 * @param {1 | -1} by
 */
function count(score, { state, correct, cost }, by) {
  score.asked += by;
  if (state !== 'asked') score.ended += by;
  if (state === 'answered') score.answered += by;
  if (correct === true) score.right += by;
  if (typeof correct === 'boolean') score.scored += by;
  if (typeof cost === 'number') score.cost += by * cost;
  // Nobody says a cost where no model was asked.
  if (cost !== undefined) score.priced += by;
  if (cost === null) score.isCostKnown = false;
}
