import type { ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type { Partner } from '@gaia-mesh/core/contracts/tool.ts';
import type { RoleWork } from '../roles/role-work.ts';
import { isForeign, offerSchema } from './foreign.ts';

/** A model's call, translated for the agent that has the tool. */
interface ForeignTarget {
  readonly partner: Partner;
  readonly toArguments: (given: JsonObject) => JsonObject;
}

/** Longest tool name that model servers accept. */
const MAX_NAME = 64;

/** The foreign tools among those that a role may call, as a model sees them. */
export class OfferedTools {
  readonly definitions: ToolDefinition[] = [];
  readonly #targets = new Map<string, ForeignTarget>();

  /** Asks each agent with a foreign tool for its offer. An agent that does not answer offers nothing, and the trace notes it. */
  static async ask(work: RoleWork): Promise<OfferedTools> {
    const offered = new OfferedTools();
    for (const partner of work.context.partners)
      if (isForeign(partner.tool)) await offered.#ask(work, partner);
    return offered;
  }

  /** Returns the foreign tools for a planner's input, asked by the team's runner; nothing if the runner may call none. */
  static async toPlan(
    work: RoleWork,
  ): Promise<{ readonly offered?: { name: string; description: string }[] }> {
    const { definitions } = await OfferedTools.ask(work);
    const offered = definitions.map(({ name, description }) => ({ name, description }));
    return offered.length === 0 ? {} : { offered };
  }

  find(name: string): ForeignTarget | undefined {
    return this.#targets.get(name);
  }

  async #ask(work: RoleWork, partner: Partner): Promise<void> {
    const reply = await work.askPartner(partner, {});
    if ('error' in reply) return work.note(`${partner.id} offers no tools: ${reply.error.message}`);
    const { success, data } = offerSchema.safeParse(reply.data);
    if (!success) return work.note(`${partner.id} sent an invalid list of tools`);
    for (const { name, description, parameters } of data.tools) {
      const toArguments = (given: JsonObject) => ({ tool: name, arguments: given });
      this.#add(partner, name, description, parameters, toArguments);
    }
    if (data.deferred.length > 0) this.#addDeferred(partner, data.deferred);
    if (data.refused.length > 0)
      work.note(`${partner.id} has tools that are not offered: ${data.refused.join('; ')}`);
  }

  #addDeferred(partner: Partner, names: readonly string[]): void {
    const description = `More tools of ${partner.id}, by name. Without arguments it says what the tool takes.`;
    const parameters = {
      type: 'object',
      properties: { tool: { type: 'string', enum: [...names] }, arguments: { type: 'object' } },
      required: ['tool'],
    };
    this.#add(partner, 'more', description, parameters, (given) => given);
  }

  #add(
    partner: Partner,
    name: string,
    description: string,
    parameters: JsonObject,
    toArguments: ForeignTarget['toArguments'],
  ): void {
    const plain = `${partner.id}_${name}`.replace(/[^\w-]/g, '_').slice(0, MAX_NAME);
    let own = plain;
    for (let count = 2; this.#targets.has(own); count++) own = `${plain.slice(0, MAX_NAME - 4)}_${count}`;
    this.#targets.set(own, { partner, toArguments });
    this.definitions.push({ name: own, description, parameters });
  }
}
