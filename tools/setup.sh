#!/usr/bin/env bash
# Makes sure that what the build needs is there: cmake, libclang (bindings of HiGHS) and a BLAS/LAPACK (psd cones).
# What is missing comes from apt-get when we are root, and otherwise from PyPI wheels in .setup/venv, which
# .cargo/config.toml then points cargo to. Running it again costs nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*" >&2; }

has_cmake() { command -v cmake >/dev/null 2>&1; }
has_libclang() {
  [ -n "${LIBCLANG_PATH:-}" ] && return 0
  # The library alone does not parse a header: it needs the compiler's own ones (stddef.h, …) too.
  compgen -G '/usr/lib/llvm-*/lib/clang/*/include/stddef.h' >/dev/null || compgen -G '/usr/lib/clang/*/include/stddef.h' >/dev/null || return 1
  # libclang-cpp is another library.
  ldconfig -p 2>/dev/null | grep -Eq 'libclang(-[0-9.]+)?\.so' && return 0
  compgen -G '/usr/lib/llvm-*/lib/libclang.so*' >/dev/null || compgen -G '/usr/lib/llvm-*/lib/libclang-[0-9]*.so*' >/dev/null
}
has_blas() {
  local out; out=$(mktemp)
  printf 'void dsyevr_(void); int main(void) { dsyevr_(); return 0; }' |
    gcc -x c - -o "$out" -lopenblas 2>/dev/null
  local code=$?; rm -f "$out"; return $code
}

for tool in cargo gcc g++ python3; do
  command -v "$tool" >/dev/null 2>&1 || { say "'$tool' is missing: install it first (rustup for cargo, the compiler packages for gcc and g++)"; exit 1; }
done

# A finished wheel set-up stays as it is.
if [ -f .cargo/config.toml ] && [ -f .setup/done ]; then exit 0; fi

missing=()
has_cmake || missing+=(cmake)
has_libclang || missing+=(libclang-dev)
has_blas || missing+=(libopenblas-dev)
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1 && [ -z "${SOFTSEP_NO_APT:-}" ]; then
  say "installing ${missing[*]} with apt-get"
  if apt-get update -qq >&2 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2; then
    if has_cmake && has_libclang && has_blas; then exit 0; fi
  fi
  say "apt-get did not provide everything; trying PyPI wheels"
fi

say "installing cmake, libclang and OpenBLAS from PyPI wheels into .setup/venv"
mkdir -p .setup .cargo
# A venv without pip is what is left of one that failed.
[ -x .setup/venv/bin/pip ] || python3 -m venv .setup/venv
# scipy 1.11 is the last series whose bundled OpenBLAS exports the plain LAPACK names.
.setup/venv/bin/pip install --quiet --disable-pip-version-check 'cmake>=3.20' 'libclang==18.1.1' >&2
.setup/venv/bin/pip install --quiet --disable-pip-version-check --no-deps 'scipy==1.11.4' >&2
site=$(.setup/venv/bin/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
# The p is the wheel's own library; without it the link below would match as well when this runs again.
blas=$(echo "$site"/scipy.libs/libopenblasp*.so)
ln -sf "$blas" "$site/scipy.libs/libopenblas.so"
# OpenBLAS looks for its own libraries beside it only if the path is of the old, inherited kind (--disable-new-dtags).
# The wheel of libclang has no compiler headers (stddef.h, …): the ones of gcc serve.
headers=$(gcc -print-file-name=include)
cat > .cargo/config.toml <<EOF
# Written by tools/setup.sh; delete it together with .setup to start over.
[env]
CMAKE = "$PWD/.setup/venv/bin/cmake"
LIBCLANG_PATH = "$site/clang/native"
BINDGEN_EXTRA_CLANG_ARGS = "-I$headers"
[build]
rustflags = ["-L", "native=$site/scipy.libs", "-C", "link-arg=-Wl,--disable-new-dtags,-rpath,$site/scipy.libs"]
EOF
touch .setup/done
say "done"
