# shellcheck shell=bash
# For the scripts beside it: what is missing is installed, what is needed is built. To be sourced from the repository's
# root by bash with `set -euo pipefail`.

# named_here PACKAGE...: the same packages by the names that they have in this release of Debian, a line each. Debian 12's
# libboost-dev is too old for zklock; clang's run-time library has clang's version in its name.
named_here() {
  local release package
  # shellcheck source=/dev/null
  release=$(. /etc/os-release && echo "${VERSION_ID-}")
  for package in "$@"; do
    case $release:$package in
      12:libboost-dev) echo libboost1.81-dev ;;
      12:libclang-rt-dev) echo libclang-rt-14-dev ;;
      *:libclang-rt-dev) echo libclang-rt-19-dev ;;
      *) echo "$package" ;;
    esac
  done
}

# need PACKAGE...: installs those Debian packages that are missing, and prints which. named_here() has their names.
need() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "This is no Debian: what its packages $* hold is taken to be here."
    return 0
  fi
  local package packages missing=()
  mapfile -t packages < <(named_here "$@")
  for package in "${packages[@]}"; do is_installed "$package" || missing+=("$package"); done
  ((${#missing[@]} > 0)) || return 0
  if [[ " ${missing[*]} " == *' libzookeeper-st-dev '* ]] && is_installed libzookeeper-mt-dev; then
    die "libzookeeper-mt-dev is installed, and zklock needs libzookeeper-st-dev, which conflicts with it:" \
      "remove it first (apt-get remove libzookeeper-mt-dev)"
  fi
  echo "Installing ${missing[*]} ..."
  as_root apt-get -qq update || echo "apt-get update has failed; going on with the package lists that are here" >&2
  start_ticking "installing"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends "${missing[@]}" \
    >/dev/null || die "cannot install ${missing[*]}"
  stop_ticking
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

# configure_and_build PRESET TARGET...: builds the targets in build/PRESET, and says so, and how far it is. What the
# compilers print is shown only if something fails.
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
  log=build/$preset/build.log
  start_ticking "building" "$log"
  # Not `cmake --build`: SIGTERM would end only that, and leave ninja running.
  NINJA_STATUS='[%f/%t] ' interruptible "${build_by[@]}" ninja -C "build/$preset" "$@" >"$log" 2>&1 || {
    stop_ticking
    sed -n '/^FAILED: /,$p' "$log" >&2
    die "the build has failed"
  }
  stop_ticking
}

# start_ticking WHAT [LOG]: prints a line each eight seconds until stop_ticking: how long it has taken, and the last
# "[done/all]" of the log.
ticker=
start_ticking() {
  (
    what=$1 log=${2-} began=$SECONDS
    while sleep 1 && kill -0 "$$" 2>/dev/null; do
      (((SECONDS - began) % 8 == 0)) || continue
      far=
      if [[ -n $log ]]; then far=$(grep -o '^\[[0-9]*/[0-9]*\]' "$log" | tail -n 1) || true; fi
      echo "  $what ${far:+$far }... $((SECONDS - began)) s"
    done
  ) &
  ticker=$!
}

stop_ticking() {
  [[ -n $ticker ]] || return 0
  kill "$ticker" 2>/dev/null || true
  wait "$ticker" 2>/dev/null || true
  ticker=
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
  stop_ticking
  echo "${0##*/}: $*" >&2
  exit 1
}
