#!/usr/bin/env bash
# Checks that the first block of LANGUAGE on a page is the whole of FILE.
# Usage: quote_test.sh PAGE LANGUAGE FILE
set -euo pipefail
diff <(awk -v fence="\`\`\`$2" '$0 == fence && !seen {seen = shown = 1; next} /^```/ {shown = 0} shown' "$1") "$3"
