#!/bin/sh
# Makes sure that browser tests find Chromium, and fonts for the Chinese labels and the emoji that they look at.
# Usage: chromium.sh PYTHON. Installs what is missing from Debian's packages when run by root; otherwise names it and fails.
set -eu
python=$1

# Success if some installed font covers the language $1; where fontconfig is missing, Debian's package $2 decides.
has_font() {
  if command -v fc-list >/dev/null; then
    [ -n "$(fc-list ":lang=$1" family)" ]
  else
    dpkg -s "$2" >/dev/null 2>&1
  fi
}

missing_packages() {
  "$python" -m tests.browser.chromium >/dev/null 2>&1 || printf ' chromium'
  has_font zh-cn fonts-noto-cjk || printf ' fonts-noto-cjk'
  has_font und-zsye fonts-noto-color-emoji || printf ' fonts-noto-color-emoji'
}

missing=$(missing_packages)
[ -n "$missing" ] || exit 0
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
  apt-get update </dev/null
  # The names are words on purpose: one package each.
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends $missing </dev/null
  missing=$(missing_packages)
  [ -n "$missing" ] || exit 0
fi
echo "Browser tests need:$missing. On Debian, as root: apt-get install$missing. Or set CHROMIUM to a Chromium's path." >&2
exit 1
