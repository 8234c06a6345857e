#!/usr/bin/env bash
# smoke.sh PROGRAM DIRECTORY: a short campaign into an empty directory; its logs stay there if something is violated.
set -euo pipefail
program=$1 directory=$2
rm -rf "$directory"
mkdir -p "$directory"
"$program" run --seconds 75 --acquisitions 15000 --faults 60 --seed 1 --busy-machine --directory "$directory"
find "$directory" -type f ! -name results.json -delete
