#!/bin/sh
# A worker that only reports what it was given: fake-worker.sh READY_FILE ...  What is typed into its pane goes to READY_FILE.typed.
ready=$1
shift
stty raw -echo
{
  printf '%s\n' "$$" "$(pwd)" "$TMUX_PANE"
  for word in "$@"; do printf '%s\n' "$word"; done
} >"$ready.tmp"
mv "$ready.tmp" "$ready"
exec cat >>"$ready.typed"
