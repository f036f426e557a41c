#!/bin/sh
# Boots systemd on a copy of this system that ends with it, without its network and its devices: boot.sh FOLDER PROGRAM. What is
# written is in FOLDER/upper. PROGRAM is in there, runs when the basic system is up, and ends it.
set -eu
mkdir -p "$1/upper/etc/systemd/system" "$1/work" "$1/root" "$1/cgroups"
: > "$1/upper/etc/fstab"
cat > "$1/upper/etc/systemd/system/walk.service" << UNIT
[Unit]
FailureAction=poweroff-force
SuccessAction=poweroff-force
[Service]
Type=oneshot
Environment=HOME=/root
ExecStart=$2
StandardOutput=file:/walk/out
StandardError=inherit
UNIT

mount -t cgroup2 none "$1/cgroups"
group="$1/cgroups/coffer-boot-$$"
mkdir "$group"
finish() {
  find "$group" -depth -type d -exec rmdir {} + || true
  umount "$1/cgroups"
}
trap 'finish "$1"' EXIT

sh -c 'echo $$ > "$0/cgroup.procs"; exec unshare "$@"' "$group" \
  --pid --mount --uts --ipc --net --cgroup --fork --kill-child sh -euc '
mount --make-rprivate /
mount -t overlay -o "lowerdir=/,upperdir=$0/upper,workdir=$0/work" overlay "$0/root"
cd "$0/root"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs tmpfs sys/fs/cgroup 2> /dev/null || true
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do
  : > "dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs tmpfs tmp
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
pivot_root . mnt
umount -l /mnt
exec env -i container=coffer PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --unit=walk.service --log-target=null
' "$1" || true
