import type { ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import { isJsonObject, type JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { findJsonCandidates, parseLoosely } from './json-reply.ts';

/** A call that a model wrote as text. */
interface WrittenCall {
  readonly name: string;
  readonly arguments: unknown;
}

interface TextCalls {
  /** The text of the reply apart from its calls. */
  readonly content: string;
  readonly calls: readonly WrittenCall[];
}

/** One form in which models write calls: how to find them and read them. */
interface Form {
  readonly pattern: RegExp;
  readonly read: (match: readonly (string | undefined)[], tools: readonly ToolDefinition[]) => WrittenCall[];
  /** True if the text after it is ignored: the model invents the tool's result there. */
  readonly endsReply?: boolean;
}

/**
 * The forms, most explicit first; the first that is found counts. They come from models' chat templates, and from two conventions that
 * models know from their training: JSON in a code block, and ReAct (Yao et al., arXiv 2210.03629).
 */
const FORMS: readonly Form[] = [
  // Hermes, Qwen, and our own instructions: JSON between tags, of which the last may be missing. Qwen3-Coder writes XML there.
  {
    pattern: /<tool_call>([\s\S]*?)(?:<\/tool_call>|(?=<tool_call>)|$)/g,
    read: ([, inner = '']) => {
      const calls = findXmlCalls(inner);
      return calls.length > 0 ? calls : findJsonCalls(inner);
    },
  },
  // Llama: `<function=name>{…}</function>`.
  {
    pattern: /<function=["']?([\w.-]+)["']?>([\s\S]*?)(?:<\/function>|$)/g,
    read: ([whole = '']) => findXmlCalls(whole),
  },
  // Mistral, Llama's python tag, Phi: a mark, then JSON to the end.
  {
    pattern: /(?:\[TOOL_CALLS\]|<\|python_tag\|>|<\|tool_calls?\|>|functools)\s*([\s\S]*)$/g,
    read: ([, inner = '']) => findJsonCalls(inner),
  },
  // DeepSeek.
  {
    pattern:
      /<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?([\w.-]+)(?:<｜tool▁sep｜>)?\s*([\s\S]*?)<｜tool▁call▁end｜>/g,
    read: ([, name = '', inner = '']) => [{ name, arguments: findObject(inner) ?? inner.trim() }],
  },
  // Gemma: Python in a code block marked `tool_code`.
  {
    pattern: /```tool_code\s*([\s\S]*?)(?:```|$)/g,
    read: ([, inner = ''], tools) => findPythonCalls(inner, tools),
  },
  {
    pattern: /```(?:json|tool_call|tool|xml)?[ \t]*\r?\n([\s\S]*?)(?:```|$)/g,
    read: ([, inner = ''], tools) => keepKnownCalls(findJsonCalls(inner), tools),
  },
  // ReAct. A model that continues invents the observation.
  {
    pattern:
      /^[ \t*]*Action[ \t*]*:[ \t*`]*([\w.-]+)[`*]*(?:\(([^\n]*)\))?[ \t]*\r?\n?(?:\s*[ \t*]*Action Input[ \t*]*:[ \t*]*([\s\S]*?))?(?=\n[ \t*]*(?:Observation|Thought|Action|Final Answer)[ \t*]*:|$(?![\s\S]))/gim,
    read: ([, name = '', inline, given], tools) => {
      const text = (given ?? inline ?? '').trim().replace(/^`([^`]*)`$/, '$1');
      return keepKnownCalls(
        [{ name, arguments: findObject(text) ?? readLoneArgument(name, text, tools) }],
        tools,
      );
    },
    endsReply: true,
  },
];

/**
 * Finds the tool calls that a model wrote as text because it or its server has no other way, or forgot it.
 *
 * @param tools the tools that it was offered; JSON that names none of them is no call
 */
export function findTextCalls(text: string, tools: readonly ToolDefinition[]): TextCalls {
  for (const { pattern, read, endsReply = false } of FORMS) {
    const found = [...text.matchAll(pattern)].flatMap((match) => {
      const calls = read(match, tools);
      return calls.length === 0 ? [] : [{ calls, begin: match.index, end: match.index + match[0].length }];
    });
    const [first] = found;
    if (first === undefined) continue;
    if (endsReply) return { content: text.slice(0, first.begin).trim(), calls: first.calls.slice(0, 1) };
    let rest = '';
    let from = 0;
    for (const { begin, end } of found) {
      rest += text.slice(from, begin);
      from = end;
    }
    return {
      content: stripInventedResults(rest + text.slice(from)),
      calls: found.flatMap(({ calls }) => calls),
    };
  }
  // The reply may be bare JSON.
  const calls = /^\s*[[{]/.test(text) ? keepKnownCalls(findJsonCalls(text), tools) : [];
  return calls.length > 0 ? { content: '', calls } : { content: text, calls: [] };
}

/** Removes tool results that the model wrote itself. */
function stripInventedResults(text: string): string {
  return text.replace(/<tool_(?:response|result)>[\s\S]*$/, '').trim();
}

const NAMES = ['name', 'tool', 'tool_name', 'function', 'action'];
const ARGUMENTS = ['arguments', 'parameters', 'args', 'input', 'tool_input', 'action_input'];

function findJsonCalls(text: string): WrittenCall[] {
  for (const candidate of findJsonCandidates(text)) {
    const value = parseLoosely(candidate);
    const calls = readCalls(Array.isArray(value) ? value : [value]);
    if (calls.length > 0) return calls;
  }
  return [];
}

function readCalls(values: readonly unknown[]): WrittenCall[] {
  return values.flatMap((value): WrittenCall[] => {
    if (!isJsonObject(value)) return [];
    if (Array.isArray(value.tool_calls)) return readCalls(value.tool_calls);
    if (isJsonObject(value.function)) return readCalls([value.function]);
    const name = NAMES.map((key) => value[key]).find((said) => typeof said === 'string');
    const given = ARGUMENTS.map((key) => value[key]).find((said) => said !== undefined && said !== null);
    if (typeof name !== 'string' || (given === undefined && Object.keys(value).length > 1)) return [];
    return [{ name, arguments: given ?? {} }];
  });
}

function findXmlCalls(text: string): WrittenCall[] {
  return [...text.matchAll(/<function=["']?([\w.-]+)["']?>([\s\S]*?)(?:<\/function>|$)/g)].map(
    ([, name = '', inner = '']) => {
      const parameters = [...inner.matchAll(/<parameter=["']?([\w.-]+)["']?>\n?([\s\S]*?)\n?<\/parameter>/g)];
      if (parameters.length === 0) return { name, arguments: findObject(inner) ?? inner.trim() };
      return {
        name,
        arguments: Object.fromEntries(
          parameters.map(([, key = '', value = '']) => [key, parsePlainValue(value)]),
        ),
      };
    },
  );
}

/** Finds calls like `search(query="x")`, also inside `print(…)`: keyword arguments with plain values, as Gemma's models write them. */
function findPythonCalls(text: string, tools: readonly ToolDefinition[]): WrittenCall[] {
  const names = tools.map(({ name }) => name);
  return [...text.matchAll(/([A-Za-z_]\w*)\(([^()]*)\)/g)].flatMap(([, name = '', inner = '']) => {
    if (!names.includes(name)) return [];
    const keyed = [
      ...inner.matchAll(/([A-Za-z_]\w*)\s*=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^,]+)/g),
    ].map(([, key = '', value = '']) => [key, parsePlainValue(normalizeQuotes(value.trim()))]);
    const given =
      keyed.length > 0
        ? Object.fromEntries(keyed)
        : readLoneArgument(name, normalizeQuotes(inner.trim()), tools);
    return [{ name, arguments: given }];
  });
}

function normalizeQuotes(text: string): string {
  return /^'[\s\S]*'$/.test(text) ? `"${text.slice(1, -1).replaceAll('"', '\\"')}"` : text;
}

/** Reads a text in place of the arguments' object: for a tool with a single required argument, it is that argument. */
function readLoneArgument(name: string, text: string, tools: readonly ToolDefinition[]): JsonObject | string {
  const required = tools.find((tool) => tool.name === name)?.parameters.required;
  const [key] = Array.isArray(required) ? required : [];
  if (text === '') return {};
  if (typeof key !== 'string' || !Array.isArray(required) || required.length !== 1) return text;
  const value = parsePlainValue(text);
  return { [key]: typeof value === 'string' ? value : text };
}

function parsePlainValue(text: string) {
  const value = parseLoosely(text);
  return value === undefined ? text : value;
}

function findObject(text: string): JsonObject | undefined {
  for (const candidate of findJsonCandidates(text)) {
    const value = parseLoosely(candidate);
    if (isJsonObject(value)) return value;
  }
  return undefined;
}

function keepKnownCalls(calls: readonly WrittenCall[], tools: readonly ToolDefinition[]): WrittenCall[] {
  return calls.filter(({ name }) => tools.some((tool) => tool.name === name));
}
