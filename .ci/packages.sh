# SPDX-License-Identifier: Apache-2.0
# Debian packages: what a step needs, what of it is missing, and installing that. Sourced by ./run
# and tests/run.
#
# A line of a list is a package and the command that succeeds once its contents are there, so that
# a tool that came some other way counts as well.

build_packages='
gcc                command -v gcc
libc6-dev          test -e /usr/include/stdio.h
cmake              command -v cmake
ninja-build        command -v ninja
pkg-config         command -v pkg-config
libssl-dev         pkg-config --exists openssl
libcjson-dev       pkg-config --exists libcjson
libffi-dev         pkg-config --exists libffi
libmd-dev          pkg-config --exists libmd
libseccomp-dev     pkg-config --exists libseccomp
libpcre2-dev       pkg-config --exists libpcre2-8
libsystemd-dev     pkg-config --exists libsystemd
libgmp-dev         pkg-config --exists gmp
libmpfr-dev        pkg-config --exists mpfr
libidn2-dev        pkg-config --exists libidn2
libunistring-dev   test -e /usr/include/uninorm.h
libstemmer-dev     test -e /usr/include/libstemmer.h
libcurl4-openssl-dev pkg-config --exists libcurl
libxml2-dev        pkg-config --exists libxml-2.0
libsqlite3-dev     pkg-config --exists sqlite3'

test_packages='
libcriterion-dev   pkg-config --exists criterion
libwebsockets-dev  pkg-config --exists libwebsockets
clang              command -v clang
libclang-rt-14-dev ls /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a
clang-format       command -v clang-format
clang-tidy         command -v clang-tidy
valgrind           command -v valgrind
scdoc              command -v scdoc
mandoc             command -v mandoc
cmark-gfm          command -v cmark-gfm
graphviz           command -v dot
nodejs             command -v node
npm                command -v npm
curl               command -v curl
openssl            command -v openssl
dbus-daemon        command -v dbus-daemon
systemd-journal-remote test -x /lib/systemd/systemd-journal-remote
nghttp2-client     command -v h2load
ripgrep            command -v rg
nginx-light        test -x /usr/sbin/nginx
caddy              command -v caddy
python3            test -x /usr/bin/python3
python3-venv       /usr/bin/python3 -c "import ensurepip, venv"
procps             command -v ps
libtest-json-schema-acceptance-perl test -d /usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance
zlib1g             ls /usr/lib/*/libz.so.1
libssl3            ls /usr/lib/*/libcrypto.so.3
libqrencode-dev    test -e /usr/include/qrencode.h
libsodium23        ls /usr/lib/*/libsodium.so.23
libsqlite3-0       ls /usr/lib/*/libsqlite3.so.0
libicu72           ls /usr/lib/*/libicuuc.so.72
libunistring2      ls /usr/lib/*/libunistring.so.2
libasound2         ls /usr/lib/*/libasound.so.2
libuuid1           ls /usr/lib/*/libuuid.so.1
libpcre2-8-0       ls /usr/lib/*/libpcre2-8.so.0
libmagic1          ls /usr/lib/*/libmagic.so.1
libglib2.0-0       ls /usr/lib/*/libglib-2.0.so.0
libarchive13       ls /usr/lib/*/libarchive.so.13
exif               command -v exif
qrencode           command -v qrencode
libpng16-16        ls /usr/lib/*/libpng16.so.16
libpcap0.8         ls /usr/lib/*/libpcap.so.0.8'

# Large, or wanted by one test only.
long_packages='
chromium           command -v chromium
debootstrap        command -v debootstrap
libarchive-dev     pkg-config --exists libarchive
libexif-dev        pkg-config --exists libexif
libpcap-dev        test -e /usr/include/pcap/pcap.h
libsodium-dev      pkg-config --exists libsodium
zlib1g-dev         pkg-config --exists zlib
libmagic-dev       test -e /usr/include/magic.h
libasound2-dev     pkg-config --exists alsa
libpng-dev         pkg-config --exists libpng16
python3-gi         /usr/bin/python3 -c "import gi"
libgirepository1.0-dev test -e /usr/share/gir-1.0/GLib-2.0.gir'

# missing_packages LIST…: the packages of the lists whose command fails, one per line.
missing_packages() {
	local package probe
	printf '%s\n' "$@" | while read -r package probe; do
		if [ -n "$package" ] && ! eval "$probe" >/dev/null 2>&1; then
			echo "$package"
		fi
	done
}

# install_packages LIST…: install what is missing, without starting the servers among it. Silent when
# nothing is missing; else says what it does.
# The first failure of apt ends it, with apt's own words.
install_packages() {
	local missing as_root=()
	mapfile -t missing < <(missing_packages "$@")
	if [ "${#missing[@]}" -eq 0 ]; then
		return 0
	fi
	if ! command -v apt-get >/dev/null; then
		echo "These are missing and there is no apt-get to install them: ${missing[*]}" >&2
		return 1
	fi
	if [ "$(id -u)" -ne 0 ]; then
		if ! command -v sudo >/dev/null; then
			echo "As root, run once: apt-get install ${missing[*]}" >&2
			return 1
		fi
		as_root=(sudo)
	fi
	echo "Installing ${missing[*]} …"
	"${as_root[@]}" apt-get update -qq &&
		"${as_root[@]}" .ci/without-services env DEBIAN_FRONTEND=noninteractive \
			apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >/dev/null
}
