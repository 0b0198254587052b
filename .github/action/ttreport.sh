#!/usr/bin/env bash
# The steps of action.yml: install, judge, comment, issues. Settings come in TTREPORT_* variables, and never as part of
# a command's text: a branch or a file may be named by a stranger. What a step finds is in files of $RUNNER_TEMP.
#
# It needs git, curl, tar and sha256sum or shasum; comment and issues need gh and jq, which runners of GitHub have. The
# bash of macOS is 3.2: no mapfile, no ${x^^}, and an array that may be empty is ${a[@]+"${a[@]}"}.
set -euo pipefail

work=${RUNNER_TEMP:?}/ttreport
mkdir -p "$work"

fail() {
  printf '::error title=ttreport::%s\n' "$1"
  exit 2
}

# sha256 is sha256sum, which macOS has under another name.
sha256() { if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }

# install puts the released binary on the PATH, if its checksum is the published one. A binary that is there is used.
install() {
  if command -v ttreport >/dev/null; then
    ttreport version
    return
  fi
  local os arch version base file
  case $(uname -s) in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    *) fail "ttreport is released for Linux and macOS, and this is $(uname -s)" ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) arch=amd64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) fail "ttreport is released for amd64 and arm64, and this is $(uname -m)" ;;
  esac
  version=${TTREPORT_VERSION:-latest}
  base=${TTREPORT_RELEASES:-https://github.com/ttreport/ttreport/releases}
  file=ttreport_${os}_${arch}.tar.gz
  if [ "$version" = latest ]; then base=$base/latest/download; else base=$base/download/$version; fi
  curl -fsSL --retry 3 -o "$work/$file" "$base/$file" || fail "$base/$file cannot be fetched: is $version a release?"
  curl -fsSL --retry 3 -o "$work/checksums.txt" "$base/checksums.txt" || fail "$base/checksums.txt cannot be fetched"
  (cd "$work" && grep " $file\$" checksums.txt | sha256 --check --status) ||
    fail "$file is not the released one: its checksum differs from checksums.txt"
  mkdir -p "$work/bin"
  tar -xzf "$work/$file" -C "$work/bin" ttreport
  echo "$work/bin" >>"$GITHUB_PATH"
  "$work/bin/ttreport" version
}

# Flags of ttreport check for links in markdown.
linked=()
[ -z "${TTREPORT_SITE:-}" ] || linked=(--site "$TTREPORT_SITE")

# flags prints the flags that state what was measured, one a line.
flags() {
  local name value
  for name in model device release; do
    value=TTREPORT_$(tr '[:lower:]' '[:upper:]' <<<"$name")
    [ -z "${!value:-}" ] || printf -- '--%s\n%s\n' "$name" "${!value}"
  done
}

# state sets stated to the flags that state what was measured.
stated=()
state() {
  local line
  stated=()
  while IFS= read -r line; do stated+=("$line"); done < <(flags)
}

# judge stores results in the history, unless they are of a pull request, judges them, and writes the site.
paths=()
judge() {
  local channel=${TTREPORT_CHANNEL:-main} branch=${TTREPORT_HISTORY_BRANCH:-} check=() code=0
  read -r -a paths <<<"${TTREPORT_PATHS:-results}"
  state
  if [ "$channel" = pr ]; then
    [ -z "$branch" ] || { branch_get "$branch" "$work/history" && history_out; }
    check=("${paths[@]}" ${stated[@]+"${stated[@]}"} --channel pr)
  else
    if [ -n "$branch" ]; then branch_add "$branch" "$work/history" store "$channel"; else store "$channel"; fi
    [ -z "${TTREPORT_RAW_BRANCH:-}" ] || branch_add "$TTREPORT_RAW_BRANCH" "$work/raw" keep
    [ -z "${TTREPORT_RELEASE:-}" ] || check=(--release "$TTREPORT_RELEASE")
  fi
  [ -z "${TTREPORT_AGAINST:-}" ] || check+=(--against "$TTREPORT_AGAINST")
  [ -z "${TTREPORT_GATE:-}" ] || check+=(--fail-on "$TTREPORT_GATE")
  ttreport check ${check[@]+"${check[@]}"} --format md ${linked[@]+"${linked[@]}"} >"$work/check.md" || code=$?
  ttreport check ${check[@]+"${check[@]}"} --format json >"$work/check.json" || true
  [ -s "$work/check.md" ] || fail "ttreport check gave nothing to show (exit code $code): see the lines above"
  cat "$work/check.md" >>"${GITHUB_STEP_SUMMARY:-/dev/stdout}"
  local decision
  decision=$(sed -n '1s/^# [^:]*: //p' "$work/check.md")
  { echo "decision=$decision"; echo "exit-code=$code"; } >>"$GITHUB_OUTPUT"
  if [ "$code" != 0 ]; then annotate error "$decision"; fi
  [ -z "${TTREPORT_PUBLISH:-}" ] || publish "$channel"
}

# publish writes the site. build reads results/ again, under the same flags: it is in the history already.
publish() {
  local how=()
  [ -z "${TTREPORT_SITE:-}" ] || how=(--base-url "$TTREPORT_SITE")
  [ "${TTREPORT_PUBLIC:-}" != true ] || how+=(--public)
  ttreport build --out "$TTREPORT_PUBLISH" ${how[@]+"${how[@]}"} --channel "$1" ${stated[@]+"${stated[@]}"}
}

# annotate shows the first paragraph of the decision where GitHub shows annotations.
annotate() {
  local text
  text=$(sed -n '3{s/\*\*//g;s/\\\(.\)/\1/g;p;}' "$work/check.md") # no markdown is shown there
  text=${text//'%'/%25}
  printf '::%s title=ttreport: %s::%s\n' "$1" "$2" "$text"
}

# branch_get BRANCH FOLDER checks a branch out into a folder; one that is not there begins empty.
branch_get() {
  rm -rf "$2"
  git worktree prune
  if git fetch -q --depth 1 origin "+refs/heads/$1:refs/remotes/origin/$1" 2>"$work/fetch.log"; then
    git worktree add -q --force --detach "$2" "refs/remotes/origin/$1"
  elif git ls-remote --exit-code origin "refs/heads/$1" >/dev/null 2>&1; then
    cat "$work/fetch.log" >&2
    fail "the branch $1 is there and cannot be fetched"
  else
    git worktree add -q --force --detach --no-checkout "$2" # it has the credentials of the checkout
    git -C "$2" checkout -q --orphan "$1"
    git -C "$2" rm -rqf --ignore-unmatch .
  fi
}

# branch_add BRANCH FOLDER COMMAND… adds to a branch what a command writes into the folder. Two jobs may end at once: the
# second starts again from what the first pushed. Whatever else git says is shown, and ends the job.
branch_add() {
  local branch=$1 at=$2 try
  shift 2
  for try in 1 2 3 4 5; do
    branch_get "$branch" "$at"
    "$@"
    git -C "$at" add -A
    if git -C "$at" diff --cached --quiet 2>/dev/null && git -C "$at" rev-parse -q --verify HEAD >/dev/null; then
      return 0
    fi
    git -C "$at" -c user.name=ttreport -c user.email=ttreport@users.noreply.github.com \
      commit -q -m "results of ${GITHUB_REPOSITORY:-this repository}@${GITHUB_SHA:-unknown}"
    if git -C "$at" push -q origin "HEAD:refs/heads/$branch" 2>"$work/push.log"; then return 0; fi
    cat "$work/push.log" >&2
    grep -qE 'fetch first|non-fast-forward|cannot lock ref|reference already exists|failed to update ref' \
      "$work/push.log" || fail "the branch $branch cannot be pushed: git says why in the lines above"
    echo "somebody else pushed $branch; trying again ($try of 5)"
    sleep "$((RANDOM % 3 * try))"
  done
  fail "the branch $branch could not be pushed in five tries"
}

# history_out fills history/ from its branch.
history_out() {
  rm -rf history
  mkdir -p "$work/history/history"
  cp -R "$work/history/history" history
}

# store reads the results into history/, and copies that to its branch if it has one. Reading is idempotent, so nothing
# is stored twice.
store() {
  [ -z "${TTREPORT_HISTORY_BRANCH:-}" ] || history_out
  ttreport ingest "${paths[@]}" ${stated[@]+"${stated[@]}"} --channel "$1"
  [ -z "${TTREPORT_HISTORY_BRANCH:-}" ] || cp -R history/. "$work/history/history/"
}

# keep copies the raw results to their branch under the paths by which the history names them.
keep() {
  local path
  for path in "${paths[@]}"; do
    case $path in /* | *..*) fail "raw-branch keeps paths of the checkout, and $path is outside of it" ;; esac
    mkdir -p "$work/raw/$(dirname "$path")"
    cp -R "${path%/}" "$work/raw/$(dirname "$path")/"
  done
}

# most is how long the text of a comment may be, with room for what GitHub adds.
readonly most=60000

# body prints the decision under a mark by which the comment is found again.
body() {
  echo "<!-- $1 -->"
  head -c "$most" "$2"
  if [ "$(wc -c <"$2")" -gt "$most" ]; then
    printf '\n\nThe rest is in the summary of the job.\n'
  fi
}

# comment writes the decision to a pull request, in place of what it said before.
comment() {
  local pull=${TTREPORT_COMMENT:?} id
  [[ $pull =~ ^[0-9]+$ ]] || fail "comment: $pull is no number of a pull request"
  body ttreport "$work/check.md" >"$work/comment.md"
  id=$(gh api --paginate "repos/$GITHUB_REPOSITORY/issues/$pull/comments" \
    --jq '.[] | select(.body | startswith("<!-- ttreport -->")) | .id' | head -n 1)
  if [ -n "$id" ]; then
    gh api -X PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id" -F "body=@$work/comment.md" >/dev/null
  else
    gh api -X POST "repos/$GITHUB_REPOSITORY/issues/$pull/comments" -F "body=@$work/comment.md" >/dev/null
  fi
}

# issues keeps one open issue a measured device with confirmed regressions, those of earlier releases that nobody accepted
# too, and closes it when a release that was measured on the device has none left.
issues() {
  local release device number title
  release=$(jq -r .release "$work/check.json")
  jq -r '[.pairs[] | select(.decision | test("^(PASS|FAIL)")) | .device] | unique[]' "$work/check.json" >"$work/measured"
  jq -r '[(.verdicts[] | select(.verdict == "regressed" and .evidence == "confirmed") | .device),
    (.changes[] | select(.open) | .devices[])] | unique[]' "$work/check.json" | grep -xFf "$work/measured" >"$work/devices" || true
  gh issue list --label ttreport --state open --limit 200 --json number,title >"$work/issues.json"
  while IFS= read -r device; do
    title="Confirmed regressions on $device"
    ttreport check --release "$release" --device "$device" --format md ${linked[@]+"${linked[@]}"} \
      >"$work/device.md" || true
    body "ttreport $device" "$work/device.md" >"$work/issue.md"
    number=$(jq -r --arg t "$title" '[.[] | select(.title == $t) | .number][0] // empty' "$work/issues.json")
    if [ -n "$number" ]; then
      gh issue edit "$number" --body-file "$work/issue.md" >/dev/null
    else
      gh label create ttreport --description "Regressions found by ttreport" >/dev/null 2>&1 || true
      gh issue create --title "$title" --label ttreport --body-file "$work/issue.md" >/dev/null
    fi
  done <"$work/devices"
  jq -r '.[] | [.number, .title] | @tsv' "$work/issues.json" | while IFS=$'\t' read -r number title; do
    device=${title#Confirmed regressions on }
    if [ "$device" != "$title" ] && ! grep -qxF -- "$device" "$work/devices" &&
      grep -qxF -- "$device" "$work/measured"; then
      gh issue close "$number" --comment "$release shows no confirmed regression on $device any more." >/dev/null
    fi
  done
}

case ${1:-} in
  install | judge | comment | issues) "$1" ;;
  *) fail "usage: ttreport.sh install|judge|comment|issues" ;;
esac
