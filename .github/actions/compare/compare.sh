#!/usr/bin/env bash
# Runs one comparison with what the action's inputs say (action.yml has them as variables), and writes its summary. Ends with the exit code of
# `compare`: 1 where a condition holds.
set -uo pipefail

folder=${RUNNER_TEMP:?}/gaia-mesh
summary=$folder/summary.md
mkdir -p "$folder"
args=(compare --adapters "$ADAPTERS" --budget "$BUDGET" --out "$folder" --summary "$summary")
[ -z "$RECORDING" ] || args+=(--recording "$RECORDING")
notes=()
if [ -s "$BASELINE" ]; then
  args+=(--baseline "$BASELINE")
  has_saved=true
else
  has_saved=false
  notes+=("No comparison of a machine of this kind was kept yet; nothing is said about changes.")
fi
[ "$SAVE" != true ] || args+=(--save-baseline "$folder/baseline.json")

# One a line: conditions and arguments have spaces in them.
conditions=()
while IFS= read -r line || [ -n "$line" ]; do
  line=${line%$'\r'}
  [ -n "${line// /}" ] || continue
  if [ "$has_saved" = false ] && [[ $line =~ [[:space:]]saved[[:space:]]*$|x[[:space:]]*saved ]]; then
    notes+=("Not held, for want of a kept comparison: \`$line\`")
  else
    conditions+=("$line")
  fi
done <<<"$FAIL_IF"
[ ${#conditions[@]} -eq 0 ] || args+=(--fail-if "${conditions[@]}")
while IFS= read -r line || [ -n "$line" ]; do
  line=${line%$'\r'}
  [ -z "$line" ] || args+=("$line")
done <<<"$ARGUMENTS"

rm -f "$summary"
# The command has words of its own: `npx --yes gaia-mesh`.
read -ra command <<<"$COMMAND"
"${command[@]}" "${args[@]}"
code=$?

{
  if [ -s "$summary" ]; then
    cat "$summary"
    [ ${#notes[@]} -eq 0 ] || printf '\n- %s' "${notes[@]}"
  else
    printf '**No comparison.** `compare` ended with %s before it had one; the log of the step says why.' "$code"
  fi
  printf '\n'
} >>"$GITHUB_STEP_SUMMARY"

if [ ! -s "$summary" ]; then status=broken
elif [ "$code" -eq 0 ]; then status=passed
else status=failed
fi
# A comparison that broke a bound is not what later ones are to be held against.
if [ "$SAVE" = true ] && [ "$status" = passed ]; then
  mkdir -p "$(dirname "$BASELINE")"
  cp "$folder/baseline.json" "$BASELINE"
fi
{
  echo "status=$status"
  echo "folder=$folder"
} >>"$GITHUB_OUTPUT"
exit "$code"
