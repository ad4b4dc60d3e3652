/** What a model said, and what it thought before. */
export interface Spoken {
  readonly content: string;
  readonly thoughts: string;
}

/** Tags around what reasoning models think, where the server does not take it out; the names are those of the models' templates. */
const THOUGHTS = /<(think|thinking|thought|thoughts|reasoning)>([\s\S]*?)<\/\1>/gi;
const OPENED = /<(?:think|thinking|thought|thoughts|reasoning)>([\s\S]*)$/i;
const CLOSED = /^([\s\S]*)<\/(?:think|thinking|thought|thoughts|reasoning)>/i;

/** The channels of gpt-oss, where no server has taken them apart. */
const FINAL_CHANNEL = /<\|channel\|>final(?:\s+[^<]*)?<\|message\|>/g;

/**
 * Marks of turns that a server with a wrong template leaves in the text: of ChatML, Llama, Gemma, Mistral, Phi, DeepSeek and gpt-oss. What
 * begins a turn of somebody else ends the model's own.
 */
const END_OF_TURN =
  /<\|(?:im_start|start_header_id|user|system|observation)\|>(?!assistant)|<start_of_turn>(?!model)|<｜(?:User|end▁of▁sentence)｜>/;
const MARKS =
  /<\|start\|>assistant|<\|channel\|>\w+(?:\s[^<]*)?|<\|im_start\|>assistant\n?|<start_of_turn>model\n?|<\|start_header_id\|>assistant<\|end_header_id\|>|<\|(?:im_end|im_start|eot_id|eom_id|end|end_of_text|endoftext|return|assistant|begin_of_text|message|start)\|>|^\s*<s>|<\/s>(?=\s*$)|<(?:end|start)_of_turn>|\[\/?INST\]|<｜tool▁calls▁(?:begin|end)｜>|<｜(?:Assistant|begin▁of▁sentence)｜>/g;

/**
 * A reply without the thoughts and marks that do not belong to what was said. Thoughts that were never ended are the whole rest: the reply
 * was cut off in them.
 *
 * @param reasoning what the server itself took out as thoughts
 */
export function spoken(text: string, reasoning = ''): Spoken {
  const thoughts = [reasoning];
  const [, ...channels] = text.split(FINAL_CHANNEL);
  const last = channels.at(-1);
  let content = last ?? text;
  if (last !== undefined) thoughts.push(withoutMarks(text.slice(0, text.length - last.length)));
  content = content.replace(THOUGHTS, (_, _tag, inner: string) => {
    thoughts.push(inner);
    return '';
  });
  const closed = CLOSED.exec(content);
  if (closed !== null) {
    thoughts.push(closed[1] ?? '');
    content = content.slice(closed[0].length);
  }
  const opened = OPENED.exec(content);
  if (opened !== null) {
    thoughts.push(opened[1] ?? '');
    content = content.slice(0, opened.index);
  }
  return { content: withoutMarks(content), thoughts: joined(thoughts) };
}

function withoutMarks(text: string): string {
  const begun = text.replace(/^\s*<\|im_start\|>assistant\n?/, '');
  const end = END_OF_TURN.exec(begun);
  const own = end === null || begun.slice(0, end.index).trim() === '' ? begun : begun.slice(0, end.index);
  return own.replace(MARKS, '').trim();
}

function joined(thoughts: readonly string[]): string {
  return thoughts
    .map((thought) => thought.trim())
    .filter((thought) => thought !== '')
    .join('\n\n');
}
