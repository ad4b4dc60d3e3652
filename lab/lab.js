#!/usr/bin/env node
// The entry of what measures and trains: from the sources, which Node 24 runs as they are. It is never published.
import { onNode24 } from '@gaia-mesh/cli/on-node-24.js';

await onNode24(() => import('./main.ts'));
