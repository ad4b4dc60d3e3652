#!/usr/bin/env bash
# Installs the frameworks of examples/frameworks, with the client that its agents use, into the user's cache. Does nothing for what is there already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

. scripts/testing/cache-folder.sh
folder=$cache/frameworks
wanted=examples/frameworks/requirements.txt
cmp --silent "$wanted" "$folder/installed" && exit 0
rm -rf "$folder"
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --requirement "$wanted" pytest
cp "$wanted" "$folder/installed"
