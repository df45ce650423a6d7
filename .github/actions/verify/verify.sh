#!/usr/bin/env bash
# The steps of the action: annotations, a SARIF log, one comment, and the exit code. Reads ADEMEM,
# RANGE, FAIL, COMMENT, SARIF and PULL; the comment needs `gh`.
set -euo pipefail
mark='<!-- ademem verify -->'

report() { # FORMAT: print it; 1 only where a memory is no longer true
  local code=0
  "$ADEMEM" verify --diff "$RANGE" --format "$1" || code=$?
  [ "$code" -le 1 ] || exit "$code"
  return "$code"
}

stale=0
report github || stale=1
[ -z "${SARIF:-}" ] || report sarif >"$SARIF" || true
if [ "${COMMENT:-false}" = true ] && [ -n "${PULL:-}" ]; then
  text=$(report comment || true)
  known=$(gh api "repos/{owner}/{repo}/issues/$PULL/comments" --paginate \
    --jq ".[] | select(.body | startswith(\"$mark\")) | .id" | head -n 1)
  if [ -n "$known" ]; then
    gh api --method PATCH "repos/{owner}/{repo}/issues/comments/$known" \
      -f body="$mark"$'\n'"${text:-All memories hold.}" >/dev/null
  elif [ -n "$text" ]; then
    gh pr comment "$PULL" --body "$mark"$'\n'"$text"
  fi
fi
[ "${FAIL:-true}" != true ] || exit "$stale"
