import * as z from 'zod';
import { MAX_BODY_BYTES, readWhole } from '../http/body.ts';
import { END_OF_EVENTS, isEventStream, readEvents } from '../http/events.ts';
import { toReplyFailure } from '../http/exchange.ts';

const callPart = z.object({
  index: z.int().nonnegative().optional(),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.unknown().optional() }).nullish(),
});

const chunkSchema = z.object({
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        delta: z
          .object({
            content: z.string().nullish(),
            refusal: z.string().nullish(),
            // Two names for thoughts: DeepSeek's and llama.cpp's, and vLLM's newer one.
            reasoning_content: z.string().nullish(),
            reasoning: z.string().nullish(),
            tool_calls: z.array(callPart).nullish(),
          })
          .nullish(),
      }),
    )
    .nullish(),
  usage: z.unknown().optional(),
  error: z.unknown().optional(),
});

interface Call {
  id: string | undefined;
  name: string;
  arguments: unknown;
}

/**
 * Returns a reply as one JSON value, whether the server streams it (chunks of `chat.completion.chunk`) or sends it whole, as some do
 * regardless of the request.
 *
 * @throws Error for a stream that ends before the reply does
 */
export async function readCompletion(response: Response): Promise<Response> {
  if (!isEventStream(response)) return readWhole(response);
  const message = { content: '', reasoning: '', refusal: '' };
  const calls = new Map<number, Call>();
  let finish: string | undefined;
  let usage: unknown;
  let isWhole = false;
  for await (const event of readEvents(response)) {
    if (event === END_OF_EVENTS) {
      isWhole = true;
      break;
    }
    const chunk = chunkSchema.parse(event);
    if (chunk.error !== undefined && chunk.error !== null) throw toReplyFailure(event);
    usage = chunk.usage ?? usage;
    const [choice] = chunk.choices ?? [];
    const delta = choice?.delta ?? {};
    message.content += delta.content ?? '';
    message.reasoning += delta.reasoning_content ?? delta.reasoning ?? '';
    message.refusal += delta.refusal ?? '';
    for (const [at, part] of (delta.tool_calls ?? []).entries()) addPart(calls, part, at);
    finish = choice?.finish_reason ?? finish;
    if (message.content.length + message.reasoning.length > MAX_BODY_BYTES)
      throw new Error(`it is more than ${MAX_BODY_BYTES} bytes`);
  }
  if (!isWhole && finish === undefined) throw new Error('the reply ended before it was complete');
  const { content, reasoning, refusal } = message;
  const whole = {
    choices: [
      {
        finish_reason: finish,
        message: {
          content,
          reasoning_content: reasoning,
          refusal: refusal === '' ? undefined : refusal,
          tool_calls: [...calls.values()].map(({ id, name, arguments: given }) => ({
            id,
            function: { name, arguments: given },
          })),
        },
      },
    ],
    usage,
  };
  return Response.json(whole);
}

/** Adds a part of a call: first its name, then its arguments piece by piece. Servers that send it whole leave the index out. */
function addPart(calls: Map<number, Call>, part: z.infer<typeof callPart>, at: number): void {
  const isNew = part.index === undefined && part.id !== undefined && part.id !== null;
  const index = part.index ?? (isNew ? calls.size : Math.max(at, calls.size - 1));
  const call = calls.get(index) ?? { id: undefined, name: '', arguments: undefined };
  calls.set(index, call);
  call.id ??= part.id ?? undefined;
  const { name, arguments: given } = part.function ?? {};
  // Some servers repeat the name in each part.
  if (call.name === '') call.name = name ?? '';
  if (typeof given === 'string')
    call.arguments = `${typeof call.arguments === 'string' ? call.arguments : ''}${given}`;
  else if (given !== undefined && given !== null) call.arguments = given;
}
