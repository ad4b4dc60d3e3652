#!/usr/bin/env bash
# Installs the frameworks of examples/frameworks into the user's cache. Does nothing for what is there already. Needs Python's venv.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

. scripts/testing/cache-folder.sh
folder=$cache/frameworks
wanted=examples/frameworks/requirements.txt
cmp --silent "$wanted" "$folder/installed" && exit 0
rm -rf "$folder"
# The pip that Python brings takes more than twice the time of the newest.
python3 -m venv --upgrade-deps "$folder" >/dev/null
"$folder/bin/pip" install --quiet --requirement "$wanted"
cp "$wanted" "$folder/installed"
