#!/usr/bin/env bash
# Installs the peers in other languages, with which stacks are tested, into the user's cache. Does nothing for what is there already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=$PWD/node_modules/.bin:$PATH

for language in python; do
  eval "$(node --input-type=module --eval "
    import { existsSync } from 'node:fs';
    import { describePeer } from './protocols/stacks/languages/installation.ts';
    const { mark, install } = describePeer('$language');
    if (!existsSync(mark)) console.log(install);
  ")"
done

# With the same Python the tests of clients/python are run.
bin=$(node --input-type=module --eval "
  import path from 'node:path';
  import { describePeer } from './protocols/stacks/languages/installation.ts';
  console.log(path.dirname(describePeer('python').command));
")
[ -e "$bin/pytest" ] || "$bin/pip" install --quiet msgpack pytest
