#!/usr/bin/env node
// The entry of the programs that measure and train. They run from the sources, which Node 24 runs as they are, and are
// never published.
import { onNode24 } from '@gaia-mesh/cli/on-node-24.js';

await onNode24(() => import('./main.ts'));
