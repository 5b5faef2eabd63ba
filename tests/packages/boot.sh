# SPDX-License-Identifier: Apache-2.0
# A root under a systemd of its own: PID 1 of namespaces for processes, mounts, control groups, names and network.
# Sourced by tests/packages/run; needs root, unshare, nsenter and a cgroup2 file system.
#
#   boot ROOT        returns once systemd has started what it starts
#   inside COMMAND…  run there as root; `inside_as USER COMMAND…` with the user's session
#   halt             ends all processes there

machine=    # what unshare runs in
init=       # the process that is PID 1 inside
init_group= # its control group here
boot_tries=600 # of 0.2 s

# The mounts that systemd expects to find, then systemd itself. Runs in the new namespaces; $1 is the root.
start_init='
set -e
cd "$1"
mount --make-rprivate /
mount --bind . .
cd "$1"
mount -t proc proc proc
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
for name in null zero full random urandom tty; do
	touch "dev/$name"
	mount --bind "/dev/$name" "dev/$name"
done
mkdir dev/shm dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mkdir -p .outside
pivot_root . .outside
cd /
umount -l .outside
exec env -i container=chroot PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --log-target=journal --show-status=0
'

boot() {
	local groups tries
	groups=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
	init_group=$groups/toolboxd-packages.$$
	[ -n "$groups" ] && mkdir "$init_group" || return 1
	: >"$1/etc/machine-id"
	(
		echo "$BASHPID" >"$init_group/cgroup.procs"
		exec unshare --pid --mount --cgroup --uts --ipc --net --fork --kill-child \
			sh -c "$start_init" sh "$1"
	) </dev/null >"$1.boot" 2>&1 &
	machine=$!
	for ((tries = 0; tries < boot_tries; tries++)); do
		init=$(cat "/proc/$machine/task/$machine/children" 2>/dev/null)
		init=${init%% *}
		kill -0 "$machine" 2>/dev/null || break
		case $([ -z "$init" ] || inside systemctl is-system-running 2>/dev/null) in
		running | degraded) return 0 ;;
		esac
		sleep 0.2
	done
	cat "$1.boot" >&2
	return 1
}

inside() {
	nsenter --target "$init" --pid --mount --cgroup --uts --ipc --net env -i HOME=/root TERM=dumb LANG=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin timeout "$root_seconds" "$@" </dev/null
}

inside_as() {
	local id
	id=$(inside id -u "$1")
	inside setpriv "--reuid=$1" "--regid=$1" --init-groups env "HOME=/home/$1" "USER=$1" "XDG_RUNTIME_DIR=/run/user/$id" "${@:2}"
}

halt() {
	local tries
	[ -n "$machine" ] || return 0
	kill -KILL "$init" "$machine" 2>/dev/null
	wait "$machine" 2>/dev/null
	machine=
	# The processes there end a moment after the first one.
	for ((tries = 0; tries < boot_tries; tries++)); do
		find "$init_group" -depth -type d -exec rmdir {} \; 2>/dev/null
		[ -d "$init_group" ] || break
		sleep 0.2
	done
}
