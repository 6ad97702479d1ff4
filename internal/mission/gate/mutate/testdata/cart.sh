#!/usr/bin/env bash
# A sample.
set -euo pipefail

source ./lib.sh
limit=10
name="cart"
export PATH=/bin:$PATH

usage() {
  echo "usage: cart" >&2
  exit 2
}

add() {
  local item=$1 count=${2:-1}
  if [ -z "$item" ] || [ "$count" -le 0 ]; then
    return 1
  fi
  for ((i = 0; i < count; i++)); do
    items+=("$item")
  done
  [[ $name == cart && -f "$item" ]] || usage
  while read -r line; do
    process "$line"
    total=$((total + count * 2))
    if test "$line" = "end"; then
      break
    fi
  done <input.txt
  case $item in
  a | b)
    cp --force "$item" out/
    ;;
  *)
    echo "other $item"
    ;;
  esac
  cat <<TEXT
inner text
TEXT
  git commit \
    -m "message"
  grep -q x file && touch found
}

add "$@"
