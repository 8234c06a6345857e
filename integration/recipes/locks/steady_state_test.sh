#!/usr/bin/env bash
# Traces the system calls of the I/O thread while locks are taken and released: no name look-up, no call that could
# block but the one wait of the loop, and two flights a lock.
# Usage: steady_state_test.sh PROGRAM
set -euo pipefail

trace=$(mktemp)
trap 'rm -f "$trace"' EXIT
strace -f -o "$trace" "$1" 2>/dev/null

steady=$(awk '/write\(2, "BEGIN/ {on = 1} /write\(2, "END/ {on = 0} on' "$trace")
thread=$(awk '$2 ~ /^sendto\(/ {print $1; exit}' <<<"$steady")
calls=$(awk -v thread="$thread" '$1 == thread && $2 !~ /^<\.\.\./ {sub(/\(.*/, "", $2); print $2}' <<<"$steady")

allowed='epoll_wait epoll_ctl timerfd_settime recvfrom sendto setsockopt futex getrandom write read'
unexpected=$(sort -u <<<"$calls" | grep -vxF "$(tr ' ' '\n' <<<"$allowed")" || true)
if [ -n "$unexpected" ]; then
  echo "unexpected system calls on the I/O thread: $unexpected"
  exit 1
fi

flights=$(awk '/^sendto$/ && !sending {flights++; sending = 1} /^recvfrom$/ {sending = 0} END {print flights}' <<<"$calls")
requests=$(($(grep -c '^sendto$' <<<"$calls") / 2))  # the C client sends a frame's length by itself
echo "20 locks: $flights flights, $requests requests"
[ "$requests" -ge 40 ] && [ "$requests" -le 42 ] && [ "$flights" -ge 40 ] && [ "$flights" -le 42 ]  # a ping may be among them
