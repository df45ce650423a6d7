#!/bin/sh
# Install ademem from this checkout and switch it on in one project. Run it again to upgrade.
set -eu

usage() {
  cat <<'END'
Usage: sh install.sh [--project DIR] [--prefix DIR] [--shared | --user] [--page] [--mcp] [--no-model] [--dry-run] [--uninstall]

Installs ademem into a separate virtual environment, enrols a project, registers the hooks with
Claude Code, and proves that each of them works.

  --project DIR   the project to enrol (default: the current folder)
  --prefix DIR    where ademem is installed (default: ~/.local/share/ademem)
  --shared        register the hooks for the team, in .claude/settings.json
  --user          register the hooks for all your projects, in ~/.claude/settings.json
                  (default: for you in this project, in .claude/settings.local.json)
  --page          also install the page and the terminal: `ademem web` and `ademem tui`
  --mcp           also install the server for other programs, and add it to Claude Code
  --no-model      leave the embedding model alone: neither install it nor, with --uninstall, remove it
  --dry-run       show what would be done, and do nothing
  --uninstall     take the hooks out of the settings, and remove ademem itself;
                  what a project remembers, in .ade/, is never touched
  --help          show this
END
}

say() { printf 'ademem: %s\n' "$*"; }

fail() {
  printf 'ademem: %s\n' "$*" >&2
  exit 1
}

wrong() {
  printf 'ademem: %s; see sh install.sh --help\n' "$*" >&2
  exit 2
}

# Do it, or with --dry-run only show it.
run() {
  if [ "$dry_run" ]; then
    printf '    %s\n' "$*"
  else
    "$@"
  fi
}

# The same for what talks a lot.
run_logged() {
  if [ "$dry_run" ]; then run "$@"; else "$@" >>"$log" 2>&1; fi
}

read_arguments() {
  project=$PWD
  prefix=${ADEMEM_PREFIX:-${HOME:?is not set}/.local/share/ademem}
  where=
  mcp=
  page=
  no_model=
  dry_run=
  action=install
  while [ $# -gt 0 ]; do
    case $1 in
    --project | --prefix)
      [ -n "${2-}" ] || wrong "$1 needs a folder"
      if [ "$1" = --project ]; then project=$2; else prefix=$2; fi
      shift
      ;;
    --shared | --user)
      [ -z "$where" ] || [ "$where" = "$1" ] || wrong "--shared and --user exclude each other"
      where=$1
      ;;
    --mcp) mcp=yes ;;
    --page) page=yes ;;
    --no-model) no_model=yes ;;
    --dry-run) dry_run=yes ;;
    --uninstall) action=uninstall ;;
    --help | -h)
      usage
      exit 0
      ;;
    *) wrong "unknown argument $1" ;;
    esac
    shift
  done
  [ -d "$project" ] || fail "there is no folder $project; name the project with --project DIR"
  project=$(cd "$project" && pwd)
  case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
  mark=$prefix/.made-by-ademem
  link=$HOME/.local/bin/ademem
  # A Python would take modules of the current folder, or of these, for its own.
  here=$(cd "$(dirname "$0")" && pwd)
  unset PYTHONPATH PYTHONHOME PYTHONSTARTUP
  cd /
}

# A name on PATH may be a wrapper without a Python behind it, so each candidate is asked.
find_python() {
  for python in python3 python3.14 python3.13 python3.12 python3.11 python; do
    if "$python" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
      return
    fi
  done
  fail "no Python 3.11 or newer on PATH; install one, then run this again"
}

# Whatever stands at the prefix is removed at --uninstall, so it has to be ours from the start.
claim_prefix() {
  if [ -e "$prefix" ] && [ ! -e "$mark" ] && [ -n "$(ls -A "$prefix")" ]; then
    fail "$prefix holds something else; choose another folder with --prefix DIR"
  fi
  { run mkdir -p "$prefix" && run touch "$mark"; } 2>/dev/null ||
    fail "cannot write to $prefix; choose another folder with --prefix DIR"
}

install_package() {
  log=$prefix/install.log
  say "installing into $prefix with $("$python" --version), about 200 MB${page:+ and 8 for the page}"
  extras=${page:+web,tui}
  extras=$extras${mcp:+${page:+,}mcp}
  run_logged "$python" -I -m venv "$prefix" ||
    fail "cannot make a virtual environment (on Debian: apt install python3-venv); see $log"
  # Compiling all of 2,700 modules takes a third of the time; Python compiles the few that it loads.
  run_logged "$prefix/bin/python" -I -m pip install --no-compile --disable-pip-version-check "$here${extras:+[$extras]}" ||
    fail "cannot install the package; is a package index in reach? see $log, then run this again"
  # What the tokenizer names for downloads that nobody asks it for; the commands need pip alone.
  run_logged "$prefix/bin/python" -I -m pip uninstall --disable-pip-version-check --yes hf_xet huggingface_hub setuptools ||
    say "left packages that nothing uses where they are; see $log"
}

# pip's script loads `re`, a tenth of a command's time, for the ending that its name has on Windows.
shorten_script() {
  script=$prefix/bin/ademem
  short=$(sed -e '/^import re$/d' -e '/^    sys\.argv\[0\] = re\.sub(.*)$/d' "$script") || return 0
  case $short in *[!a-z]re.*) ;; *) printf '%s\n' "$short" >"$script" ;; esac
}

add_link() {
  if [ ! -e "$link" ] && [ ! -h "$link" ]; then
    run mkdir -p "${link%/*}"
    run ln -s "$prefix/bin/ademem" "$link"
  elif [ "$(readlink "$link")" != "$prefix/bin/ademem" ]; then
    say "left $link as it is, for it is not ours; the command is $prefix/bin/ademem"
    link=$prefix/bin/ademem
  fi
}

show_next_steps() {
  say "ready. What to try next:"
  case :$PATH: in
  *":${link%/*}:"*) ;;
  *) printf '  add %s to PATH in your shell profile, so that you find the command `ademem`\n' "${link%/*}" ;;
  esac
  printf '  start `claude` in %s and type: remember: deploys go through the staging branch\n' "$project"
  printf '  type /ademem:review there, or `ademem review` in a terminal: what waits for your decision\n'
  if [ "$page" ]; then
    printf '  type `ademem web` in %s: what Claude was sent, and all that is remembered, in a browser\n' "$project"
  fi
}

# Without it words alone decide what is recalled, so nothing here waits for it to work.
install_model() {
  [ -z "$no_model" ] || return 0
  say "fetching the embedding model, up to 84 MB (--no-model leaves it out)"
  run_logged "$prefix/bin/ademem" model install --project "$project" ||
    say 'going on without the model: words alone decide until `ademem model install`'"; see $log"
}

install() {
  find_python
  claim_prefix
  install_package
  [ "$dry_run" ] || shorten_script
  add_link
  export ADEMEM_INSTALLING=yes # then `init` leaves out the step that follows here
  # In this order, as hooks are registered for an enrolled project.
  run "$prefix/bin/ademem" init --project "$project"
  run "$prefix/bin/ademem" install --project "$project" ${where:+"$where"}
  [ -z "$mcp" ] || run "$prefix/bin/ademem" install --mcp claude --project "$project"
  install_model
  run "$prefix/bin/ademem" doctor --project "$project"
  # The shared command line cannot name a folder of this machine.
  if [ "$where" = --shared ] && [ "$prefix" != "${ADEMEM_PREFIX:-$HOME/.local/share/ademem}" ]; then
    say "add ADEMEM_PREFIX=$prefix to your environment, so that the shared hooks find ademem"
  fi
  [ "$dry_run" ] || show_next_steps
}

uninstall() {
  if [ -x "$prefix/bin/ademem" ]; then
    run "$prefix/bin/ademem" uninstall --project "$project" ${where:+"$where"} ||
      fail "the hooks are still registered; see above, then run this again"
  fi
  # What other clients have of ours is in the person's own files, whatever the project.
  log=/dev/null
  for client in agent=codex agent=gemini agent=opencode mcp=codex mcp=gemini mcp=opencode mcp=cursor mcp=vscode; do
    set -- "$@" "--$client"
  done
  if [ -x "$prefix/bin/ademem" ]; then
    run_logged "$prefix/bin/ademem" uninstall "$@" ||
      fail 'hooks or servers of ours are left with other clients: see `ademem uninstall --agent NAME`, `--mcp NAME`'
  fi
  if [ -z "$no_model" ] && [ -x "$prefix/bin/ademem" ]; then
    for model in '' multilingual; do # shellcheck disable=SC2086 # no name is the first model
      run "$prefix/bin/ademem" model remove $model || say "an embedding model could not be removed; see above"
    done
  fi
  if [ "$(readlink "$link" || true)" = "$prefix/bin/ademem" ]; then
    run rm "$link"
  fi
  if [ -e "$mark" ]; then
    run rm -r "$prefix"
  elif [ -e "$prefix" ]; then
    say "left $prefix as it is, for it is not ours"
  fi
  say "what this project remembers stays in $project/.ade"
}

read_arguments "$@"
"$action"
