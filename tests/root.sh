# SPDX-License-Identifier: Apache-2.0
# A Debian 12 of its own, in a folder: made by debootstrap, entered by chroot. Sourced by tests/bare-root and
# tests/packages; needs root.

suite=bookworm
root_seconds=3600 # the limit of a command inside

# The address of the first binary archive of the suite that apt here knows.
mirror() {
	apt-get indextargets --format '$(SITE) $(CODENAME)' 'Created-By: Packages' |
		awk -v suite="$suite" '$2 == suite { print $1; exit }'
}

# make_root FOLDER PACKAGES [ARGUMENT…]: a minimal system with the packages (comma separated); arguments are for debootstrap.
make_root() {
	local folder=$1 include=$2 site
	shift 2
	site=$(mirror)
	[ -n "$site" ] || { echo "apt here knows no mirror of $suite; run apt-get update" >&2; return 1; }
	debootstrap "$@" --variant=minbase --include="$include" "$suite" "$folder" "$site" >"$folder.log" 2>&1 ||
		{ tail "$folder.log" >&2; return 1; }
	rm -f "$folder.log"
	chmod 755 "$folder" # apt downloads as a user of its own
	echo force-unsafe-io >"$folder/etc/dpkg/dpkg.cfg.d/unsafe-io" # it need not outlive a failure of power
	copy_network "$folder"
}

# What lets this machine reach a mirror and the package index through its own certificates, proxies and options of apt:
# copied, since a bare root would lack it on any such machine.
copy_network() {
	cp -L /etc/resolv.conf /etc/hosts "$1/etc/" 2>/dev/null || true
	cp -a /etc/apt/apt.conf.d/. "$1/etc/apt/apt.conf.d/" 2>/dev/null || true
	rm -f "$1"/etc/apt/apt.conf.d/docker-*
	cp -a /etc/apt/sources.list.d/debian.sources "$1/etc/apt/sources.list.d/" 2>/dev/null &&
		: >"$1/etc/apt/sources.list"
	cp -L /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/" 2>/dev/null || true
	cp -L /etc/pip.conf "$1/etc/pip.conf" 2>/dev/null || true
}

mount_root() {
	mount -t proc proc "$1/proc"
	mount --rbind /dev "$1/dev"
	mount --make-rslave "$1/dev"
}

unmount_root() {
	local name
	for name in dev proc; do
		! mountpoint -q "$1/$name" || umount -l "$1/$name"
	done
}

# in_root FOLDER COMMAND…: with nothing of this machine's environment.
in_root() {
	timeout "$root_seconds" chroot "$1" env -i HOME=/root TERM=dumb LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${@:2}" </dev/null
}
