import type { JsonObject, JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { findText, toCount, toObject, unpackJson } from '../loose-values.ts';
import type { ImportedMessage, ImportNotes, TrafficFormat } from '../message.ts';
import { readSpans, type Span, unflattenAttributes } from './otlp-spans.ts';

/** The kind of exchange that a span represents. */
type Kind = 'model' | 'tool' | 'agent' | 'retriever';

/**
 * Operations of the GenAI semantic conventions (`gen_ai.operation.name`), and OpenInference's kinds. Chains and guardrails are
 * not exchanges.
 */
const OPERATIONS: Readonly<Record<string, Kind>> = {
  chat: 'model',
  text_completion: 'model',
  generate_content: 'model',
  embeddings: 'model',
  execute_tool: 'tool',
  invoke_agent: 'agent',
  create_agent: 'agent',
  retrieval: 'retriever',
  LLM: 'model',
  EMBEDDING: 'model',
  RERANKER: 'model',
  TOOL: 'tool',
  AGENT: 'agent',
  RETRIEVER: 'retriever',
};

/** Characters per token of stand-in texts, if only tokens are known; English has about four with today's tokenizers. */
const CHARACTERS_PER_TOKEN = 4;
/** Maximum length of a stand-in for a text that was not recorded, whatever the span says. */
const MAX_STAND_IN_TOKENS = 1_000_000;

/**
 * Imports OpenTelemetry spans in OTLP/JSON (lines of a file exporter, or the body of a request to a collector). Each span of a
 * model, a tool, an agent or a retriever becomes a request of its caller at its start and a reply at its end. The caller is the
 * agent of the nearest span above it, or else the service. Conventions: GenAI (`gen_ai.*`, with contents in attributes, events or
 * log records), OpenInference, and those of Vercel's AI SDK (`ai.*`).
 */
const importOtlp: TrafficFormat['read'] = (values, notes) => {
  const spans = readSpans(values, notes);
  const byId = new Map(spans.map((span) => [`${span.trace} ${span.id}`, span]));
  const conversations = new Map(
    spans.flatMap(({ trace, attributes }): [string, string][] => {
      const name = findText(attributes, ['gen_ai.conversation.id', 'session.id']);
      return name === undefined ? [] : [[trace, name]];
    }),
  );
  return spans.flatMap((span) => {
    const kind = classifySpan(span);
    if (kind === undefined) {
      notes.drop('spans that are no exchanges with models, tools or agents', span.name);
      return [];
    }
    const from = findCaller(span, byId);
    const to = nameSpan(span, kind);
    const input = pickContent(span, kind, 'input', notes);
    const output = pickContent(span, kind, 'output', notes);
    const task = conversations.get(span.trace) ?? span.trace;
    const asked: ImportedMessage = {
      from,
      to,
      task,
      type: `${kind}.call`,
      payload: input,
      atUs: span.startUs,
    };
    const tokens = sumTokens(span.attributes);
    return [
      asked,
      {
        from: to,
        to: from,
        task,
        type: `${kind}.result`,
        payload: output,
        atUs: span.endUs,
        answers: asked,
        tokens,
      },
    ];
  });
};

export const otlp: TrafficFormat = {
  name: 'otlp',
  about: 'OpenTelemetry spans and log records (OTLP/JSON): GenAI, OpenInference, Vercel AI SDK',
  read: importOtlp,
  findSign: (value) => ['resourceSpans', 'resourceLogs'].find((key) => Array.isArray(toObject(value)?.[key])),
};

/** Returns the kind of exchange of a span; undefined if it is none. */
function classifySpan({ attributes }: Span): Kind | undefined {
  const operation =
    findText(attributes, ['gen_ai.operation.name', 'openinference.span.kind', 'traceloop.span.kind']) ?? '';
  const kind = OPERATIONS[operation] ?? OPERATIONS[operation.toUpperCase()] ?? classifyAiSdk(attributes);
  if (kind !== undefined) return kind;
  // Before 1.37 some instrumentations named the model but no operation.
  return attributes['gen_ai.request.model'] === undefined ? undefined : 'model';
}

/**
 * Returns the kind of a span of Vercel's AI SDK: a call of the SDK, such as `ai.generateText`, asks a model (`….doGenerate`) and its
 * tools until it has an answer.
 */
function classifyAiSdk(attributes: JsonObject): Kind | undefined {
  const operation = findText(attributes, ['ai.operationId']) ?? '';
  if (operation === 'ai.toolCall') return 'tool';
  if (/\.do[A-Z]/.test(operation)) return 'model';
  return operation.startsWith('ai.') ? 'agent' : undefined;
}

function nameSpan({ name, attributes, service }: Span, kind: Kind): string {
  switch (kind) {
    case 'model':
      return (
        findText(attributes, [
          'gen_ai.request.model',
          'gen_ai.response.model',
          'llm.model_name',
          'embedding.model_name',
          'ai.model.id',
        ]) ?? 'model'
      );
    case 'tool':
      return `tool:${findText(attributes, ['gen_ai.tool.name', 'tool.name', 'ai.toolCall.name']) ?? name}`;
    case 'retriever':
      return `retriever:${findText(attributes, ['gen_ai.data_source.id']) ?? name}`;
    case 'agent':
      return findAgentName(attributes) ?? (name === '' ? service : name);
  }
}

function findAgentName(attributes: JsonObject): string | undefined {
  return findText(attributes, [
    'gen_ai.agent.name',
    'agent.name',
    'gen_ai.agent.id',
    'graph.node.id',
    'ai.telemetry.functionId',
  ]);
}

/** Maximum ancestors of a span; a longer chain is a cycle. */
const MAX_ANCESTORS = 200;

/** Returns the agent of the nearest span above, or the service; for the service's own span, the user. */
function findCaller(span: Span, byId: ReadonlyMap<string, Span>): string {
  let above = byId.get(`${span.trace} ${span.parent ?? ''}`);
  for (let steps = 0; above !== undefined && steps < MAX_ANCESTORS; steps++) {
    if (classifySpan(above) === 'agent') return nameSpan(above, 'agent');
    above = byId.get(`${span.trace} ${above.parent ?? ''}`);
  }
  return classifySpan(span) === 'agent' && nameSpan(span, 'agent') === span.service ? 'user' : span.service;
}

type Way = 'input' | 'output';

/** Returns the input or output of a span from its most detailed attributes. */
function pickContent(span: Span, kind: Kind, way: Way, notes: ImportNotes): unknown {
  const { attributes } = span;
  const messages = kind === 'tool' ? readToolContent(attributes, way) : readModelContent(span, way);
  const key = WHOLE_CONTENTS[way].find((name) => attributes[name] !== undefined);
  const content =
    messages ??
    readAiSdkContent(attributes, way) ??
    (key === undefined ? undefined : unpackJson(attributes[key]));
  if (content !== undefined) return typeof content === 'object' ? content : { text: content };
  const tokens =
    toCount(attributes[`gen_ai.usage.${way}_tokens`]) ??
    toCount(attributes[`llm.token_count.${way === 'input' ? 'prompt' : 'completion'}`]) ??
    toCount(attributes[`ai.usage.${way}Tokens`]) ??
    toCount(attributes[`ai.usage.${way === 'input' ? 'prompt' : 'completion'}Tokens`]);
  if (tokens === undefined || tokens === 0) {
    notes.drop('contents of messages whose spans have none, and no tokens', span.name);
    return {};
  }
  notes.guess(
    `sizes of messages without contents, taken as ${CHARACTERS_PER_TOKEN} characters a token`,
    span.name,
  );
  return { text: 'word'.repeat(Math.min(tokens, MAX_STAND_IN_TOKENS)) };
}

/** Attributes that hold a span's whole input or output, in the order in which they are tried. */
const WHOLE_CONTENTS: Readonly<Record<Way, readonly string[]>> = {
  input: ['input.value', 'traceloop.entity.input', 'langfuse.observation.input', 'mlflow.spanInputs'],
  output: ['output.value', 'traceloop.entity.output', 'langfuse.observation.output', 'mlflow.spanOutputs'],
};

/** Attributes of Vercel's AI SDK with contents, by the name that they get in the payload. */
const AI_SDK_CONTENTS: Readonly<Record<Way, Readonly<Record<string, readonly string[]>>>> = {
  input: {
    messages: ['ai.prompt.messages'],
    prompt: ['ai.prompt'],
    tools: ['ai.prompt.tools'],
    values: ['ai.values', 'ai.value'],
    arguments: ['ai.toolCall.args', 'ai.toolCall.input'],
  },
  output: {
    text: ['ai.response.text', 'ai.result.text'],
    object: ['ai.response.object', 'ai.result.object'],
    reasoning: ['ai.response.reasoning'],
    toolCalls: ['ai.response.toolCalls', 'ai.result.toolCalls'],
    files: ['ai.response.files'],
    embeddings: ['ai.embeddings', 'ai.embedding'],
    result: ['ai.toolCall.result', 'ai.toolCall.output'],
  },
};

function readAiSdkContent(attributes: JsonObject, way: Way): unknown {
  const entries = Object.entries(AI_SDK_CONTENTS[way]).flatMap(([name, keys]): [string, unknown][] => {
    const value = keys.map((key) => attributes[key]).find((found) => found !== undefined);
    if (value === undefined) return [];
    return [[name, Array.isArray(value) ? value.map(unpackJson) : unpackJson(value)]];
  });
  if (entries.length === 0) return undefined;
  const [only] = entries;
  // Arguments and results of tools stand by themselves, as they do in other conventions.
  const isTool = entries.length === 1 && (only?.[0] === 'arguments' || only?.[0] === 'result');
  return isTool ? only?.[1] : Object.fromEntries(entries);
}

function readToolContent(attributes: JsonObject, way: Way): unknown {
  const keys =
    way === 'input'
      ? ['gen_ai.tool.call.arguments', 'tool.parameters', 'tool_arguments']
      : ['gen_ai.tool.call.result', 'tool_response'];
  const key = keys.find((name) => attributes[name] !== undefined);
  return key === undefined ? undefined : unpackJson(attributes[key]);
}

/** Returns messages with the other parts of a model request: instructions and tools. */
function readModelContent({ attributes, events }: Span, way: Way): unknown {
  const said = (name: string) => unpackJson(attributes[name] ?? findEventValue(events, name) ?? undefined);
  const messages = said(`gen_ai.${way}.messages`);
  if (messages !== undefined) {
    if (way === 'output') return { messages };
    return {
      instructions: said('gen_ai.system_instructions'),
      messages,
      tools: said('gen_ai.tool.definitions'),
    };
  }
  const flat = unflattenAttributes(attributes, `llm.${way}_messages`, 'message');
  if (flat !== undefined) {
    const tools = way === 'input' ? unflattenAttributes(attributes, 'llm.tools', 'tool') : undefined;
    return { messages: flat, tools };
  }
  const older = unflattenAttributes(attributes, way === 'input' ? 'gen_ai.prompt' : 'gen_ai.completion');
  if (older !== undefined) return { messages: older };
  const documents =
    way === 'output' ? unflattenAttributes(attributes, 'retrieval.documents', 'document') : undefined;
  return documents === undefined ? readEventMessages(events, way) : { documents };
}

/** Returns contents from an event of the whole operation (`gen_ai.client.inference.operation.details`). */
function findEventValue(events: Span['events'], name: string): JsonValue | undefined {
  return events.find(({ attributes }) => attributes[name] !== undefined)?.attributes[name];
}

/** Reads messages from events: before 1.37 each message was an event. */
function readEventMessages(events: Span['events'], way: Way): unknown {
  const isOurs = ({ name }: Span['events'][number]) =>
    way === 'output'
      ? name === 'gen_ai.choice'
      : /^gen_ai\.(?:system|user|assistant|tool)\.message$/.test(name);
  const messages = events.filter(isOurs).map(({ attributes }) => attributes);
  return messages.length === 0 ? undefined : { messages };
}

function sumTokens(attributes: JsonObject): number | undefined {
  const sum = (names: readonly string[]) => {
    const counts = names.map((name) => toCount(attributes[name])).filter((count) => count !== undefined);
    return counts.length === 0 ? undefined : counts.reduce((all, count) => all + count, 0);
  };
  return (
    sum(['gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens']) ??
    sum(['llm.token_count.prompt', 'llm.token_count.completion']) ??
    sum(['ai.usage.inputTokens', 'ai.usage.outputTokens']) ??
    sum(['ai.usage.promptTokens', 'ai.usage.completionTokens'])
  );
}
