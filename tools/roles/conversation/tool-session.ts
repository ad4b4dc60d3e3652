import type { ToolCall, ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { OfferedTools } from '../../foreign/offered.ts';
import { buildToolDefinitions, resolveCalledTool, splitReason } from '../../tool-definitions.ts';
import type { RoleWork } from '../role-work.ts';
import { cutText, isDeeper, MAX_ENTRY_CHARACTERS } from '../trace.ts';

/** Arguments of one call: a long program, not a book. */
const MAX_ARGUMENT_CHARACTERS = 200_000;
/** Nesting of arguments; a packet's payload may be somewhat deeper. */
const MAX_ARGUMENT_DEPTH = 32;
/** Of what a model wrote wrongly, as much as it needs to recognise it. */
const MAX_SHOWN_CHARACTERS = 100;

/** The tools of one conversation: what the model is offered, and what becomes of its calls (RA-25). */
export class ToolSession {
  readonly tools: readonly ToolDefinition[];
  readonly #work: RoleWork;
  readonly #ids = new Set<string>();
  readonly #offered: OfferedTools;

  private constructor(work: RoleWork, own: readonly ToolDefinition[], offered: OfferedTools) {
    this.#work = work;
    this.#offered = offered;
    this.tools = [...own, ...offered.definitions];
  }

  static async of(work: RoleWork): Promise<ToolSession> {
    const own = await buildToolDefinitions(work.context.partners, work.file);
    return new ToolSession(work, own, await OfferedTools.of(work));
  }

  /**
   * The calls of one reply as they stay in the conversation, which is sent back to the server whole: servers refuse names and ids
   * that they would not have given, and ids that come twice.
   */
  take(calls: readonly ToolCall[], turn: number): ToolCall[] {
    return calls.map((call, index) => {
      const id = this.#ids.has(call.id) ? `call_${turn}_${index}_again` : call.id;
      this.#ids.add(id);
      return { id, name: toToolName(call.name), arguments: boundArguments(call.arguments) };
    });
  }

  /**
   * One call, from its reason to its result as the model reads it. What goes wrong is told to the model (RA-26).
   *
   * @param isExplained whether the model has said a word before its calls, which is in the trace already
   */
  async act({ name, arguments: given }: ToolCall, isExplained: boolean): Promise<string> {
    const target = this.#offered.find(name);
    const tool =
      target === undefined
        ? resolveCalledTool(name, typeof given === 'string' ? {} : given, this.#work.context.partners)
        : name;
    if (tool === undefined) {
      this.#work.note(`the model asked for the tool ${name}, which is not there`);
      const known = this.tools.map((offered) => offered.name).join(', ');
      return `Error: there is no tool ${name}. There are: ${known === '' ? 'none' : known}`;
    }
    if (typeof given === 'string') {
      this.#work.note(`the model gave ${name} arguments that cannot be used`);
      return `Error: the arguments are no JSON object, or far too large: ${cutText(given, MAX_SHOWN_CHARACTERS)}`;
    }
    // Somebody else's tool may have an argument of that name.
    const { reason, args } = target === undefined ? splitReason(given) : { reason: '', args: given };
    // Each action has a reason before it (REQ-024), and none has it twice.
    if (reason !== '') this.#work.reasoning(reason);
    else if (!isExplained) this.#work.reasoning(`calls ${tool}`);
    const reply =
      target === undefined
        ? await this.#work.use(tool, args)
        : await this.#work.useOf(target.partner, name, target.argumentsOf(args));
    return 'error' in reply ? `Error: ${reply.error.message}` : cutText(reply.text, MAX_ENTRY_CHARACTERS);
  }
}

/** As servers write names of tools; one that is none stays recognisable. */
function toToolName(name: string): string {
  return name.replace(/[^\w-]/g, '_').slice(0, 64) || 'unknown';
}

function boundArguments(given: JsonObject | string): JsonObject | string {
  if (typeof given === 'string') return cutText(given, MAX_SHOWN_CHARACTERS);
  // Depth first: what is nested without end cannot be made a text of.
  if (isDeeper(given, MAX_ARGUMENT_DEPTH)) return `nested deeper than ${MAX_ARGUMENT_DEPTH}`;
  const text = JSON.stringify(given);
  return text.length > MAX_ARGUMENT_CHARACTERS ? cutText(text, MAX_SHOWN_CHARACTERS) : given;
}
