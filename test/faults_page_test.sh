#!/usr/bin/env bash
# The page on faults names a test for each: every title in quotes in its last column must be one of a test in the sources.
# Usage: faults_page_test.sh SOURCE_DIR
set -euo pipefail
cd "$1"

# Titles may be broken over lines; a test that is a script has its title in a variable of CMake.
code=$(cat test/*.cpp integration/*.cpp | tr '\n' ' ' | sed -E 's/" +"//g')
titles=$(grep -oE '(TEST_CASE(_METHOD)?|CONTRACT)\( *([A-Za-z]+, *)?"[^"]*"' <<<"$code" | sed -E 's/^[^"]*//'
  grep -ohE '^ *set\([a-z_]+ "[^"]*"\)' integration/CMakeLists.txt | sed -E 's/^[^"]*//; s/\)$//')
named=$(awk -F' \\| ' '/^\| / {print $NF}' docs/faults.md | grep -oE '"[^"]*"' | sort -u)

echo "$(wc -l <<<"$named") tests named, of $(wc -l <<<"$titles")"
if unknown=$(grep -vxF "$titles" <<<"$named"); then
  echo "docs/faults.md names tests that do not exist:"
  echo "$unknown"
  exit 1
fi
if rows=$(grep -E '^\| R?[0-9]' docs/faults.md | awk -F' \\| ' 'NF != 4 || $4 ~ /^ *\|?$/'); [ -n "$rows" ]; then
  echo "rows of docs/faults.md without a test or a reason:"
  echo "$rows"
  exit 1
fi
