import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import type { McpServer } from '../mcp/server/mcp-server.ts';
import type { McpTool, ToolResult } from '../mcp/tools.ts';

type ToolContent = ToolResult['content'][number];
type McpMethods = NonNullable<ConstructorParameters<typeof McpServer>[0]['methods']>;

/** This module holds what MCP's conformance suite expects of a server, according to the descriptions of its scenarios. */

/** A red pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** A WAV file without a sample. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const nothing = z.object({});
const image: ToolContent = { type: 'image', data: PNG, mimeType: 'image/png' };
const resource = (uri: string, mimeType: string, text: string): ToolContent => ({
  type: 'resource',
  resource: { uri, mimeType, text },
});

function saying(name: string, content: readonly ToolContent[], isError = false): McpTool {
  const call = async () => (isError ? { content, isError } : { content });
  return { name, description: `The fixture ${name}`, inputSchema: nothing, call };
}

const withProgress: McpTool = {
  name: 'test_tool_with_progress',
  description: 'Says how it goes on',
  inputSchema: nothing,
  async call(_args, { progress }) {
    for (const done of [0, 50, 100]) await progress(done, 100, `Completed step ${done} of 100`);
    return { content: [{ type: 'text', text: 'done' }] };
  },
};

export const fixtureTools: readonly McpTool[] = [
  saying('test_simple_text', [{ type: 'text', text: 'This is a simple text response for testing.' }]),
  saying('test_image_content', [image]),
  saying('test_audio_content', [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }]),
  saying('test_embedded_resource', [
    resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ]),
  saying('test_multiple_content_types', [
    { type: 'text', text: 'Multiple content types test:' },
    image,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ]),
  saying(
    'test_error_handling',
    [{ type: 'text', text: 'This tool intentionally returns an error for testing' }],
    true,
  ),
  withProgress,
];

const CACHE = { ttlMs: 60_000, cacheScope: 'public' } as const;

const staticText = {
  uri: 'test://static-text',
  mimeType: 'text/plain',
  text: 'This is the content of the static text resource.',
};
const staticBinary = { uri: 'test://static-binary', mimeType: 'image/png', blob: PNG };

const user = (content: object) => ({ role: 'user', content });

const promptSchema = z.looseObject({
  name: z.string(),
  arguments: z.record(z.string(), z.string()).optional(),
});

function messagesOf(params: JsonObject): readonly object[] {
  const { name, arguments: args = {} } = promptSchema.parse(params);
  switch (name) {
    case 'test_simple_prompt':
      return [user({ type: 'text', text: 'This is a simple prompt for testing.' })];
    case 'test_prompt_with_arguments':
      return [
        user({ type: 'text', text: `Prompt with arguments: arg1='${args.arg1}', arg2='${args.arg2}'` }),
      ];
    case 'test_prompt_with_embedded_resource':
      return [
        user({
          type: 'resource',
          resource: {
            uri: args.resourceUri ?? '',
            mimeType: 'text/plain',
            text: 'Embedded resource content',
          },
        }),
        user({ type: 'text', text: 'Please process the embedded resource above.' }),
      ];
    case 'test_prompt_with_image':
      return [user(image), user({ type: 'text', text: 'Please analyze the image above.' })];
    default:
      throw new Error(`no prompt ${name}`);
  }
}

const argument = (name: string) => ({ name, description: `The argument ${name}`, required: true });

/** @param notFound makes the error for an unknown resource */
export function fixtureMethods(notFound: (uri: string) => Error): McpMethods {
  return {
    'resources/list': async () => ({
      resources: [
        { uri: staticText.uri, name: 'static text', mimeType: staticText.mimeType },
        { uri: staticBinary.uri, name: 'static binary', mimeType: staticBinary.mimeType },
      ],
      ...CACHE,
    }),
    'resources/templates/list': async () => ({
      resourceTemplates: [
        { uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' },
      ],
      ...CACHE,
    }),
    'resources/read': async ({ uri }) => {
      const id = /^test:\/\/template\/([^/]+)\/data$/.exec(String(uri))?.[1];
      const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
      const found = [staticText, staticBinary].find((each) => each.uri === uri);
      if (found === undefined && id === undefined) throw notFound(String(uri));
      return { contents: [found ?? { uri, mimeType: 'application/json', text }], ...CACHE };
    },
    'prompts/list': async () => ({
      prompts: [
        { name: 'test_simple_prompt', description: 'A simple one' },
        {
          name: 'test_prompt_with_arguments',
          description: 'One with arguments',
          arguments: [argument('arg1'), argument('arg2')],
        },
        {
          name: 'test_prompt_with_embedded_resource',
          description: 'One with a resource',
          arguments: [argument('resourceUri')],
        },
        { name: 'test_prompt_with_image', description: 'One with an image' },
      ],
      ...CACHE,
    }),
    'prompts/get': async (params) => ({ messages: messagesOf(params) }),
    'completion/complete': async () => ({
      completion: { values: ['paris', 'park'], total: 2, hasMore: false },
    }),
  };
}
