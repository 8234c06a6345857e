# shellcheck shell=bash
# For the scripts beside it: what is missing is installed, what is needed is built. To be sourced from the repository's
# root by bash with `set -euo pipefail`.

# need PACKAGE...: installs those Debian packages that are missing, and prints which.
need() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "This is no Debian: what its packages $* hold is taken to be here."
    return 0
  fi
  local package missing=()
  for package in "$@"; do is_installed "$package" || missing+=("$package"); done
  ((${#missing[@]} > 0)) || return 0
  if [[ " ${missing[*]} " == *' libzookeeper-st-dev '* ]] && is_installed libzookeeper-mt-dev; then
    die "libzookeeper-mt-dev is installed, and zklock needs libzookeeper-st-dev, which conflicts with it:" \
      "remove it first (apt-get remove libzookeeper-mt-dev)"
  fi
  echo "Installing ${missing[*]} ..."
  as_root apt-get -qq update || echo "apt-get update has failed; going on with the package lists that are here" >&2
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends "${missing[@]}" \
    >/dev/null || die "cannot install ${missing[*]}"
}

# need_node_packages DIRECTORY: node, npm, and the packages that the directory's package-lock.json names. None of their
# own scripts is run.
need_node_packages() {
  command -v node >/dev/null || need nodejs
  command -v npm >/dev/null || need npm
  local lock=$1/package-lock.json installed=$1/node_modules/.installed
  if ! cmp -s "$lock" "$installed"; then
    echo "Installing the node packages of $1 ..."
    (cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null) ||
      die "cannot install the node packages of $1"
    cp "$lock" "$installed"
  fi
}

# Further options for CMake, and the command that runs the build; a script may set them.
cmake_options=()
build_by=()

# configure_and_build PRESET TARGET...: builds the targets in build/PRESET, and says so. Output is shown only if
# something fails; on a terminal, ninja's one line of progress is shown, too.
configure_and_build() {
  local preset=$1
  shift
  echo "Building $* (preset $preset, in build/$preset) ..."
  mkdir -p "build/$preset"
  local log=build/$preset/configure.log
  interruptible cmake --preset "$preset" "${cmake_options[@]}" >"$log" 2>&1 || {
    cat "$log" >&2
    die "cmake --preset $preset has failed"
  }
  local quiet=(--quiet)
  [[ ! -t 1 ]] || quiet=()
  # Not `cmake --build`: SIGTERM would end only that, and leave ninja running.
  interruptible "${build_by[@]}" ninja -C "build/$preset" "${quiet[@]}" "$@" || die "the build has failed"
}

# interruptible COMMAND...: runs the command, and ends it when this script is ended. Bash alone would do so only
# afterwards, or not at all.
interruptible() {
  local child status=0 number
  "$@" &
  child=$!
  for number in 1 2 15; do
    # shellcheck disable=SC2064
    trap "trap - $number; kill -TERM $child 2>/dev/null || true; wait $child || true; kill -$number $BASHPID" "$number"
  done
  wait "$child" || status=$?
  trap - 1 2 15
  return "$status"
}

is_installed() { [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

as_root() {
  if ((EUID == 0)); then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "this needs root, and there is no sudo: $*"
  fi
}

die() {
  echo "${0##*/}: $*" >&2
  exit 1
}
