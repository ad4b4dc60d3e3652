import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { PromptKind, PromptPart } from '@gaia-mesh/core/contracts/prompt-part.ts';

/** One message of a chat with a model. */
interface PromptMessage {
  readonly role: 'system' | 'user';
  readonly content: string;
  readonly parts: readonly PromptPart[];
}

/** The kinds of content in prompts' variables. All others hold text of another agent or role. */
const KINDS: Readonly<Record<string, PromptKind>> = {
  question: 'question',
  task: 'question',
  document: 'file',
  file: 'file',
  chunks: 'file',
  results: 'tool_result',
  tools: 'tools',
  answer_format: 'structure',
  report_format: 'structure',
  name: 'structure',
  role: 'structure',
};

const VARIABLE = /\{\{(.*?)\}\}/g;

/**
 * Fills in a prompt file (format: `config/prompts/README.md`). The text is divided into its sections before values are
 * inserted, and values are inserted once, so that a document can change neither the sections nor the variables. A paragraph
 * whose variables are all empty is left out.
 *
 * @throws MeshError `config` for a section or a variable that is missing or unknown
 */
export function renderPrompt(
  name: string,
  text: string,
  variables: Readonly<Record<string, string>>,
): PromptMessage[] {
  const used = new Set<string>();
  const variable = (key: string) => {
    const value = Object.hasOwn(variables, key) ? variables[key] : undefined;
    if (value === undefined) {
      throw new MeshError(
        'config',
        `prompt ${name} has {{${key}}}, but its variables are ${listVariables(variables)}`,
      );
    }
    used.add(key);
    return value;
  };
  const saysSomething = (paragraph: string) => {
    const values = [...paragraph.matchAll(VARIABLE)].map(([, key = '']) => variable(key.trim()));
    return values.length === 0 || values.some((value) => value.trim() !== '');
  };
  const messages = splitSections(name, text).map(({ role, template }) => {
    const paragraphs = template.split(/\n[ \t]*\r?\n/).filter(saysSomething);
    // `split` keeps the captured names: text, variable, text, variable, text.
    const parts = paragraphs
      .join('\n\n')
      .split(VARIABLE)
      .map((piece, index): PromptPart => {
        if (index % 2 === 0) return { kind: role === 'system' ? 'system' : 'structure', text: piece };
        const key = piece.trim();
        return { kind: KINDS[key] ?? 'peer', text: variable(key), name: key };
      });
    return {
      role,
      content: parts.map((part) => part.text).join(''),
      parts: parts.filter((part) => part.text !== ''),
    };
  });
  const forgotten = Object.keys(variables).filter((key) => !used.has(key));
  if (forgotten.length > 0) {
    throw new MeshError(
      'config',
      `prompt ${name} does not use {{${forgotten.join('}}, {{')}}}: the model would not see it`,
    );
  }
  return messages;
}

function splitSections(name: string, text: string) {
  // `split` keeps the captured names: preface, role, body, role, body.
  const [, ...parts] = text.split(/^## (system|user)[ \t]*\r?$/m);
  const [first, system, second, user, ...rest] = parts;
  if (first !== 'system' || second !== 'user' || rest.length > 0) {
    throw new MeshError(
      'config',
      `prompt ${name} must have a section "## system" and then a section "## user", once each`,
    );
  }
  return [
    { role: 'system', template: (system ?? '').trim() },
    { role: 'user', template: (user ?? '').trim() },
  ] as const;
}

function listVariables(variables: Readonly<Record<string, string>>): string {
  const names = Object.keys(variables);
  return names.length > 0 ? names.join(', ') : 'none';
}
