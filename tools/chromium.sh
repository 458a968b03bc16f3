#!/usr/bin/env bash
# Prints the path of a Chromium that can render pages without a screen, for the tests of the report. Where there is none, Debian's
# package is installed when we are root and apt-get is there; otherwise one line on the standard error says why not, and the code is 1.
set -uo pipefail

found() {
  local name
  for name in chromium chromium-browser google-chrome; do
    command -v "$name" 2>/dev/null && return 0
  done
  return 1
}
refuse() { printf '%s\n' "$*" >&2; exit 1; }

found && exit 0
[ -z "${SOFTSEP_NO_APT:-}" ] || refuse "there is no chromium, and SOFTSEP_NO_APT forbids to install it"
[ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1 || refuse "there is no chromium, and only root can install it with apt-get"

# Two tests at once must not both install; a mirror that does not answer must not hold up all others.
exec 9>"${TMPDIR:-/tmp}/softsep-chromium.lock"
flock -w 300 9 || refuse "another installation of chromium does not end"
found && exit 0
export DEBIAN_FRONTEND=noninteractive
timeout 60 apt-get update -qq >/dev/null 2>&1
timeout 240 apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null 2>&1
found || refuse "apt-get could not install chromium"
