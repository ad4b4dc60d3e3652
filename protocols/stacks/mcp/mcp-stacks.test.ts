import { testStack } from '../testing/stack-contract.ts';
import { mcpHttpBare } from './bare/stacks.ts';
import { mcpHttpSdk } from './sdk/stacks.ts';
import { mcpStdioBare, mcpStdioSdk } from './stdio/stacks.ts';

for (const stack of [mcpHttpBare, mcpHttpSdk, mcpStdioBare, mcpStdioSdk]) testStack(stack);
