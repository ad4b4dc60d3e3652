import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues, type JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { type Emission, type Tool, TRACE_FILE } from '@gaia-mesh/core/contracts/tool.ts';
import type * as z from 'zod';

/** Maximum characters of a step's result in a trace. */
const MAX_SAID_CHARACTERS = 8_000;

/** A tool whose work for a packet is one step of an engine, as it is for most tools that think. */
interface StepTool<Input extends JsonObject, Output extends JsonObject, Reply> {
  readonly name: string;
  readonly description: string;
  readonly accepts: string;
  /** The schema of the payload. */
  readonly input: z.ZodType<Input>;
  /** A valid payload, for readers and for {@link Tool.prepare}. */
  readonly example: Input;
  /** The schema of the result for both engines: it checks a model's reply, and tests hold the embedded engine to it. */
  readonly output: z.ZodType<Output>;
  /** Computes the result without a model. */
  readonly embedded: (input: Input) => Output;
  /** The request to a model: prompt file, variables, the reply's schema, and the output that a reply stands for. */
  readonly model: {
    readonly prompt: string;
    readonly variables: (input: Input) => Readonly<Record<string, string>>;
    readonly reply: z.ZodType<Reply>;
    readonly output: (input: Input, reply: Reply) => unknown;
  };
  /** Puts the result of a model into words: a line or more of the trace. */
  readonly said: (output: Output) => string;
  readonly emits: string;
  /** Selects the part of the output that is sent; by default all of it. The record in `log` always has all of it. */
  readonly payload?: (output: Output) => JsonObject;
  /** The other fields of the packet that is sent. */
  readonly emission?: Pick<Emission, 'tag' | 'log'>;
}

/** Turns a step into a {@link Tool}: payload → checked input → engine → checked output → packet. */
export function createStepTool<Input extends JsonObject, Output extends JsonObject, Reply>(
  spec: StepTool<Input, Output, Reply>,
): Tool {
  return {
    name: spec.name,
    description: spec.description,
    accepts: [spec.accepts],
    emits: [spec.emits],
    async prepare({ engine }) {
      // Warming up would spend a model server's time.
      if (engine.tokenSource !== 'embedded') return;
      // Loads the weights and compiles the code. A second time would delay the start by more than it saves the first packet.
      parseWellFormed(spec.embedded(spec.input.parse(spec.example)), spec.output);
    },
    async run(packet, { engine, signal, countTokens, record }) {
      const parsed = spec.input.safeParse(packet.payload);
      if (!parsed.success) {
        throw new MeshError(
          'packet',
          `${packet.type} from ${packet.from} is invalid for ${spec.name}: ${formatIssues(parsed.error)}`,
        );
      }
      const input = parsed.data;
      const output = await engine.perform(
        {
          input,
          embedded: () => parseWellFormed(spec.embedded(input), spec.output),
          model: {
            prompt: spec.model.prompt,
            variables: () => spec.model.variables(input),
            reply: spec.model.reply,
            result: (reply) =>
              spec.output.parse(toWellFormed(spec.model.output(input, spec.model.reply.parse(reply)))),
          },
        },
        { signal, countTokens },
      );
      if (engine.tokenSource === 'model') {
        const text = spec.said(output).slice(0, MAX_SAID_CHARACTERS).toWellFormed();
        record(TRACE_FILE, { task_id: packet.task_id, by: spec.name, kind: 'result', text });
      }
      if (spec.emission?.log !== undefined) {
        record(spec.emission.log, {
          task_id: packet.task_id,
          cause: packet.id,
          engine: engine.name,
          ...output,
        });
      }
      const payload = spec.payload === undefined ? output : spec.payload(output);
      return [{ type: spec.emits, payload, ...spec.emission }];
    },
  };
}

/** Texts are cut at UTF-16 offsets, which may halve a character; no packet can carry half of one. Offsets stay right. */
function parseWellFormed<Output>(output: Output, schema: z.ZodType<Output>): Output {
  return isWellFormed(output) ? output : schema.parse(toWellFormed(output));
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  for (const part of Object.values(value)) if (!isWellFormed(part)) return false;
  return true;
}

function toWellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(toWellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, toWellFormed(part)]));
}
