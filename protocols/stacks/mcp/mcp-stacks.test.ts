import { testStack } from '../testing/stack-contract.ts';
import { mcpHttpBare } from './bare/stacks.ts';
import { mcpHttpSdk } from './sdk/stacks.ts';
import { loadMcpStdioSdk, mcpStdioBare } from './stdio/stacks.ts';

for (const stack of [mcpHttpBare, mcpHttpSdk, mcpStdioBare]) testStack(stack);

/** The checks of pipes: each starts two processes with the SDK, which takes seconds. A release has all checks. */
const OF_PIPES = /^(packets arrive|work that fails|an exchange ends at|every byte is)/;

testStack(await loadMcpStdioSdk(), process.env.GAIA_MESH_RELEASE === 'true' ? undefined : OF_PIPES);
