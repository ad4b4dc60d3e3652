import type { ToolCall, ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { OfferedTools } from '../../foreign/offered.ts';
import { buildToolDefinitions, resolveCalledTool, splitReason } from '../../tool-definitions.ts';
import type { RoleWork } from '../role-work.ts';
import { cutText, isDeeper, MAX_ENTRY_CHARACTERS } from '../trace.ts';

/** Maximum characters of one call's arguments: enough for a long program. */
const MAX_ARGUMENT_CHARACTERS = 200_000;
/** Maximum nesting of arguments; a packet's payload may be somewhat deeper. */
const MAX_ARGUMENT_DEPTH = 32;
/** Maximum characters quoted from a model's invalid arguments, enough to recognise them. */
const MAX_SHOWN_CHARACTERS = 100;

/** The tools of one conversation: it offers them to the model and carries out its calls (RA-25). */
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

  static async open(work: RoleWork): Promise<ToolSession> {
    const own = await buildToolDefinitions(work.context.partners, work.file);
    return new ToolSession(work, own, await OfferedTools.ask(work));
  }

  /**
   * Returns the calls of one reply as they stay in the conversation, which is sent back to the server: servers refuse names and ids
   * that they would not have issued, and duplicate ids.
   */
  take(calls: readonly ToolCall[], turn: number): ToolCall[] {
    return calls.map((call, index) => {
      const id = this.#ids.has(call.id) ? `call_${turn}_${index}_again` : call.id;
      this.#ids.add(id);
      return { id, name: toToolName(call.name), arguments: boundArguments(call.arguments) };
    });
  }

  /**
   * Carries out one call, from its reason to its result as the model reads it. Errors are reported to the model (RA-26).
   *
   * @param isExplained true if the model gave a text with its calls, which is already in the trace
   */
  async act({ name, arguments: given }: ToolCall, isExplained: boolean): Promise<string> {
    const target = this.#offered.find(name);
    const tool =
      target === undefined
        ? resolveCalledTool(name, typeof given === 'string' ? {} : given, this.#work.context.partners)
        : name;
    if (tool === undefined) {
      this.#work.note(`the model called the tool ${name}, which does not exist`);
      const known = this.tools.map((offered) => offered.name).join(', ');
      return `Error: there is no tool ${name}. There are: ${known === '' ? 'none' : known}`;
    }
    if (typeof given === 'string') {
      this.#work.note(`the model gave ${name} invalid arguments`);
      return `Error: the arguments are not a JSON object, or far too large: ${cutText(given, MAX_SHOWN_CHARACTERS)}`;
    }
    // A foreign tool may have an argument named `reason`.
    const { reason, args } = target === undefined ? splitReason(given) : { reason: '', args: given };
    // Each action is preceded by exactly one reason (REQ-024).
    if (reason !== '') this.#work.reasoning(reason);
    else if (!isExplained) this.#work.reasoning(`calls ${tool}`);
    const reply =
      target === undefined
        ? await this.#work.use(tool, args)
        : await this.#work.usePartner(target.partner, name, target.toArguments(args));
    return 'error' in reply ? `Error: ${reply.error.message}` : cutText(reply.text, MAX_ENTRY_CHARACTERS);
  }
}

/** Converts a tool's name to the form that servers accept, still recognisable. */
function toToolName(name: string): string {
  return name.replace(/[^\w-]/g, '_').slice(0, 64) || 'unknown';
}

function boundArguments(given: JsonObject | string): JsonObject | string {
  if (typeof given === 'string') return cutText(given, MAX_SHOWN_CHARACTERS);
  // Depth is checked first: endlessly nested values cannot be converted to text.
  if (isDeeper(given, MAX_ARGUMENT_DEPTH)) return `nested deeper than ${MAX_ARGUMENT_DEPTH}`;
  const text = JSON.stringify(given);
  return text.length > MAX_ARGUMENT_CHARACTERS ? cutText(text, MAX_SHOWN_CHARACTERS) : given;
}
