import type { ToolDefinition } from '../contracts/engine.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../contracts/packet.ts';

/**
 * Tool definitions as OpenAI's models read them: a TypeScript namespace in the system message, which the API makes of their JSON Schemas
 * (the format is published for gpt-oss: cookbook.openai.com/articles/openai-harmony, "Function calling").
 */
export function formatTools(tools: readonly ToolDefinition[]): string {
  const lines = tools.flatMap(({ name, description, parameters }) => {
    const fields = formatFields(parameters, 0);
    const type = fields === '' ? `type ${name} = () => any;` : `type ${name} = (_: {\n${fields}\n}) => any;`;
    return [`// ${description}`, type, ''];
  });
  return ['namespace functions {', '', ...lines, '} // namespace functions'].join('\n');
}

function formatFields({ properties, required }: JsonObject, indent: number): string {
  if (properties === undefined || !isJsonObject(properties)) return '';
  const needed = new Set(Array.isArray(required) ? required : []);
  const space = ' '.repeat(indent);
  return Object.entries(properties)
    .flatMap(([name, schema]) => {
      const { description } = isJsonObject(schema) ? schema : {};
      const comment = typeof description === 'string' && indent < 2 ? [`${space}// ${description}`] : [];
      return [...comment, `${space}${name}${needed.has(name) ? '' : '?'}: ${formatType(schema, indent)},`];
    })
    .join('\n');
}

function formatType(schema: JsonValue, indent: number): string {
  if (!isJsonObject(schema)) return 'any';
  const choices = Array.isArray(schema.enum) ? schema.enum : undefined;
  switch (schema.type) {
    case 'string':
      return choices?.map((choice) => JSON.stringify(choice)).join(' | ') ?? 'string';
    case 'integer':
    case 'number':
      return choices?.join(' | ') ?? 'number';
    case 'boolean':
    case 'null':
      return schema.type;
    case 'array':
      return `${schema.items === undefined ? 'any' : formatType(schema.items, indent)}[]`;
    case 'object':
      return `{\n${formatFields(schema, indent + 2)}\n${' '.repeat(indent)}}`;
    default:
      return 'any';
  }
}
