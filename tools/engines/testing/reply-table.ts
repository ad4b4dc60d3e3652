import type { ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type { ScriptedReply } from '../../fixtures/model-server.ts';

/** Tools that the models of the table are offered. */
export const LOOKUP: ToolDefinition = {
  name: 'look_up',
  description: 'Looks something up',
  parameters: {
    type: 'object',
    properties: { query: { type: 'string' }, count: { type: 'integer' } },
    required: ['query'],
  },
};
export const LISTING: ToolDefinition = {
  name: 'list_all',
  description: 'Lists everything that there is',
  parameters: { type: 'object', properties: {} },
};

/** A reply as real models write it in a conversation with tools, and its correct reading. */
export interface TurnRow {
  readonly what: string;
  readonly reply: ScriptedReply;
  /** The text; empty by default. */
  readonly says?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: JsonObject | string }[];
  readonly thinks?: string;
  /** The finish reason; by default `stop`, or `tool_calls` if there are calls. */
  readonly finish?: 'length';
}

const heron = [{ name: 'look_up', arguments: { query: 'heron' } }];
const says = (content: string): ScriptedReply => ({ content });

export const TURNS: readonly TurnRow[] = [
  { what: 'an answer', reply: says('FINAL ANSWER: 4'), says: 'FINAL ANSWER: 4' },
  {
    what: 'an answer under a heading',
    reply: says('### FINAL ANSWER\nParis'),
    says: '### FINAL ANSWER\nParis',
  },
  ...[
    'FINAL ANSWER - 4',
    'FINAL ANSWER – 4',
    '**FINAL ANSWER** — 4',
    'FINAL ANSWER 4',
    '## Answer\n\n4',
    'Es sind vier.\n\nDie endgültige Antwort lautet: 4',
    'Réponse finale : 4',
    'Respuesta: 4',
    '最终答案：4',
  ].map((text) => ({ what: `an answer as ${JSON.stringify(text)}`, reply: says(text), says: text })),
  {
    what: 'a call whose arguments are encoded twice',
    reply: {
      content: '',
      toolCalls: [
        { id: 'a', name: 'look_up', arguments: JSON.stringify('{"query": "heron", "count": "3"}') },
      ],
    },
    calls: [{ name: 'look_up', arguments: { query: 'heron', count: 3 } }],
  },
  {
    what: 'a call as text with the arguments in arguments',
    reply: says('<tool_call>{"name":"look_up","arguments":{"arguments":{"query":"heron"}}}</tool_call>'),
    calls: heron,
  },
  { what: 'the name of a tool', reply: says('I need look_up for this.'), says: 'I need look_up for this.' },
  { what: 'nothing', reply: says('') },
  { what: 'spaces', reply: says(' \n\n ') },
  {
    what: 'talk without a call',
    reply: says('I will now look at the image.'),
    says: 'I will now look at the image.',
  },
  {
    what: 'a refusal in words',
    reply: says('I’m sorry, I cannot help with that.'),
    says: 'I’m sorry, I cannot help with that.',
  },
  {
    what: 'half a sentence at the length limit',
    reply: { content: 'The tower is', finish: 'length' },
    says: 'The tower is',
    finish: 'length',
  },
  // Thoughts.
  {
    what: 'thoughts in tags',
    reply: says('<think>It may be 5.\nOr 4.</think>\n\nFINAL ANSWER: 4'),
    says: 'FINAL ANSWER: 4',
    thinks: 'It may be 5.\nOr 4.',
  },
  {
    what: 'thoughts without the opening tag',
    reply: says('It may be 5.</think>FINAL ANSWER: 4'),
    says: 'FINAL ANSWER: 4',
    thinks: 'It may be 5.',
  },
  {
    what: 'thoughts that were never ended',
    reply: { content: '<think>FINAL ANSWER: 5? No,', finish: 'length' },
    thinks: 'FINAL ANSWER: 5? No,',
    finish: 'length',
  },
  { what: 'thoughts alone', reply: says('<think>Hm.</think>'), thinks: 'Hm.' },
  {
    what: 'thoughts under another name',
    reply: says('<reasoning>Hm.</reasoning>4'),
    says: '4',
    thinks: 'Hm.',
  },
  {
    what: 'thoughts in a field of their own',
    reply: { content: 'FINAL ANSWER: 4', thoughts: 'It may be 5.' },
    says: 'FINAL ANSWER: 4',
    thinks: 'It may be 5.',
  },
  {
    what: 'thoughts in the field and nothing else',
    reply: { content: '', thoughts: 'It may be 5.' },
    thinks: 'It may be 5.',
  },
  {
    what: 'the channels of gpt-oss',
    reply: says(
      '<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>FINAL ANSWER: 4<|return|>',
    ),
    says: 'FINAL ANSWER: 4',
    thinks: 'Hm.',
  },
  {
    what: 'a call that was only thought of',
    reply: says(
      '<think>Perhaps <tool_call>{"name":"look_up","arguments":{"query":"x"}}</tool_call></think>4',
    ),
    says: '4',
    thinks: 'Perhaps <tool_call>{"name":"look_up","arguments":{"query":"x"}}</tool_call>',
  },
  // Marks of templates.
  { what: 'an end mark of ChatML', reply: says('FINAL ANSWER: 4<|im_end|>'), says: 'FINAL ANSWER: 4' },
  {
    what: 'a turn of the user behind it',
    reply: says('FINAL ANSWER: 4<|im_end|>\n<|im_start|>user\nThanks!'),
    says: 'FINAL ANSWER: 4',
  },
  { what: 'an end mark of Llama', reply: says('4<|eot_id|>'), says: '4' },
  { what: 'an end mark of Gemma', reply: says('4<end_of_turn>\n'), says: '4' },
  { what: 'an end mark of Mistral', reply: says('4</s>'), says: '4' },
  {
    what: 'markup of HTML that is the answer',
    reply: says('FINAL ANSWER: <s>4</s> <br>'),
    says: 'FINAL ANSWER: <s>4</s> <br>',
  },
  // Calls as text.
  {
    what: 'a call between tags',
    reply: says('<tool_call>\n{"name": "look_up", "arguments": {"query": "heron"}}\n</tool_call>'),
    calls: heron,
  },
  {
    what: 'a call with a word before',
    reply: says('I look it up.\n<tool_call>{"name":"look_up","arguments":{"query":"heron"}}</tool_call>'),
    says: 'I look it up.',
    calls: heron,
  },
  {
    what: 'a call that was not closed',
    reply: says('<tool_call>\n{"name": "look_up", "arguments": {"query": "heron"}}'),
    calls: heron,
  },
  {
    what: 'two calls',
    reply: says(
      '<tool_call>{"name":"look_up","arguments":{"query":"heron"}}</tool_call>\n<tool_call>{"name":"list_all","arguments":{}}</tool_call>',
    ),
    calls: [...heron, { name: 'list_all', arguments: {} }],
  },
  {
    what: 'a call with a result that the model invented',
    reply: says(
      '<tool_call>{"name":"look_up","arguments":{"query":"heron"}}</tool_call>\n<tool_response>4</tool_response>\nFINAL ANSWER: 4',
    ),
    calls: heron,
  },
  {
    what: 'a call behind thoughts',
    reply: says('<think>Hm.</think><tool_call>{"name":"look_up","arguments":{"query":"heron"}}</tool_call>'),
    calls: heron,
    thinks: 'Hm.',
  },
  {
    what: 'a call of a tool that nobody has',
    reply: says('<tool_call>{"name":"fly","arguments":{}}</tool_call>'),
    calls: [{ name: 'fly', arguments: {} }],
  },
  {
    what: 'a call in Qwen-Coder’s XML',
    reply: says(
      '<tool_call>\n<function=look_up>\n<parameter=query>\nheron\n</parameter>\n<parameter=count>\n3\n</parameter>\n</function>\n</tool_call>',
    ),
    calls: [{ name: 'look_up', arguments: { query: 'heron', count: 3 } }],
  },
  {
    what: 'a call in Llama’s form',
    reply: says('<function=look_up>{"query": "heron"}</function>'),
    calls: heron,
  },
  {
    what: 'a call behind Llama’s mark',
    reply: says('<|python_tag|>{"name": "look_up", "parameters": {"query": "heron"}}<|eom_id|>'),
    calls: heron,
  },
  {
    what: 'calls in Mistral’s form',
    reply: says('[TOOL_CALLS] [{"name": "look_up", "arguments": {"query": "heron"}}]'),
    calls: heron,
  },
  {
    what: 'a call in DeepSeek’s form',
    reply: says(
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>look_up\n```json\n{"query": "heron"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    ),
    calls: heron,
  },
  {
    what: 'a call in Gemma’s Python',
    reply: says('```tool_code\nprint(look_up(query="heron"))\n```'),
    calls: heron,
  },
  {
    what: 'a call in a block of JSON',
    reply: says('I look it up:\n```json\n{"name": "look_up", "arguments": {"query": "heron"}}\n```'),
    says: 'I look it up:',
    calls: heron,
  },
  {
    what: 'a call that is nothing but JSON',
    reply: says('{"tool": "look_up", "tool_input": {"query": "heron"}}'),
    calls: heron,
  },
  {
    what: 'a call in OpenAI’s own shape',
    reply: says(
      '{"tool_calls":[{"type":"function","function":{"name":"look_up","arguments":"{\\"query\\":\\"heron\\"}"}}]}',
    ),
    calls: heron,
  },
  {
    what: 'a call as ReAct writes it',
    reply: says('Thought: I look it up.\nAction: look_up\nAction Input: {"query": "heron"}'),
    says: 'Thought: I look it up.',
    calls: heron,
  },
  {
    what: 'ReAct with a plain text',
    reply: says('Action: look_up\nAction Input: heron\nObservation: 4\nFinal Answer: 4'),
    calls: heron,
  },
  { what: 'ReAct in bold', reply: says('**Action:** look_up\n**Action Input:** `heron`'), calls: heron },
  {
    what: 'broken JSON between tags',
    reply: says('<tool_call>{"name": "look_up", "arguments": {"query": </tool_call>'),
    says: '<tool_call>{"name": "look_up", "arguments": {"query": </tool_call>',
  },
  {
    what: 'a comma too many in a call',
    reply: says('<tool_call>{"name": "look_up", "arguments": {"query": "heron",},}</tool_call>'),
    calls: heron,
  },
  {
    what: 'JSON that names no tool',
    reply: says('```json\n{"name": "Ada", "age": 36}\n```'),
    says: '```json\n{"name": "Ada", "age": 36}\n```',
  },
  { what: 'an answer in JSON', reply: says('{"answer": "4"}'), says: '{"answer": "4"}' },
  {
    what: 'a sentence with the word Action',
    reply: says('Action: the film was made in 1994.\nFINAL ANSWER: 1994'),
    says: 'Action: the film was made in 1994.\nFINAL ANSWER: 1994',
  },
  {
    what: 'a call of the server’s own, beside an answer',
    reply: { content: 'FINAL ANSWER: 4', toolCalls: [{ id: 'a', name: 'list_all', arguments: {} }] },
    says: 'FINAL ANSWER: 4',
    calls: [{ name: 'list_all', arguments: {} }],
  },
];

/** A reply to a request for JSON of the form `{"answer": text}`; without `answer` it is unusable. */
interface FormRow {
  readonly what: string;
  readonly content: string;
  readonly answer?: string;
}

export const FORMS: readonly FormRow[] = [
  { what: 'JSON', content: '{"answer": "4"}', answer: '4' },
  { what: 'a fence', content: '```json\n{"answer": "4"}\n```', answer: '4' },
  {
    what: 'a sentence before the fence',
    content: 'Here it is:\n\n```json\n{"answer": "4"}\n```',
    answer: '4',
  },
  { what: 'a sentence before and after', content: 'It is {"answer": "4"}, as asked.', answer: '4' },
  { what: 'thoughts before', content: '<think>{"answer": "5"}?</think>{"answer": "4"}', answer: '4' },
  { what: 'a draft before', content: 'First {"draft": 1}, then\n{"answer": "4"}', answer: '4' },
  {
    what: 'two that fit: the last counts',
    content: '```json\n{"answer": "5"}\n```\nNo:\n```json\n{"answer": "4"}\n```',
    answer: '4',
  },
  { what: 'an end mark', content: '{"answer": "4"}<|im_end|>', answer: '4' },
  { what: 'a fence that was not closed', content: '```json\n{"answer": "4"}', answer: '4' },
  { what: 'a list of one', content: '[{"answer": "4"}]', answer: '4' },
  { what: 'a comma too many', content: '{"answer": "4",}', answer: '4' },
  { what: 'a stated answer in prose', content: 'The answer is 4.', answer: '4' },
  { what: 'a stated answer behind a dash', content: 'FINAL ANSWER - 4', answer: '4' },
  { what: 'a number in place of a text', content: '{"answer": 4}', answer: '4' },
  { what: 'a key in capitals', content: '{"Answer": "4"}', answer: '4' },
  { what: 'prose', content: 'It may be 4.' },
  { what: 'nothing', content: '' },
  { what: 'another form', content: '{"antwort": "4"}' },
  { what: 'half of it', content: '{"answer": "4' },
];
