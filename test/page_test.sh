#!/usr/bin/env bash
# Some pages name a test in each row. Every title in quotes in the last column must be one of a test in the sources. A
# row with a number in the first column must have four columns, and a test or a reason in the last one.
# Usage: page_test.sh SOURCE_DIR PAGE
set -euo pipefail
cd "$1"
page=$2

# Titles may be broken over lines. A test that is a script has its title in a variable of CMake.
code=$(find test integration -name '*.cpp' -exec cat {} + | tr '\n' ' ' | sed -E 's/" +"//g')
titles=$(grep -oE '(TEST_CASE(_METHOD)?|CONTRACT)\( *([A-Za-z]+, *)?"[^"]*"' <<<"$code" | sed -E 's/^[^"]*//'
  grep -ohE '^ *set\([a-z_]+ "[^"]*"\)' integration/CMakeLists.txt | sed -E 's/^[^"]*//; s/\)$//')
if torn=$(grep ';' <<<"$titles"); then
  echo "titles that CMake would take for two tests each, neither of which exists:"
  echo "$torn"
  exit 1
fi
named=$(awk -F' \\| ' '/^\| / {print $NF}' "$page" | grep -oE '"[^"]*"' | sort -u)

echo "$(wc -l <<<"$named") tests named, of $(wc -l <<<"$titles")"
if unknown=$(grep -vxF "$titles" <<<"$named"); then
  echo "$page names tests that do not exist:"
  echo "$unknown"
  exit 1
fi
if rows=$(grep -E '^\| [A-Z]?[0-9]' "$page" | awk -F' \\| ' 'NF != 4 || $4 ~ /^ *\|?$/'); [ -n "$rows" ]; then
  echo "rows of $page without a test or a reason:"
  echo "$rows"
  exit 1
fi
