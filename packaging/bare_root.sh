# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# Sourced, after cmake/setup.sh: a bare Debian in a folder, and commands in it. As root.

# make_bare_root RELEASE FOLDER PACKAGE...: unpacks that Debian (bookworm, trixie) with its essential packages
# and PACKAGE... alone into FOLDER, which is emptied. An archive beside it is kept for the next time.
make_bare_root() {
  release=$1 root=$2
  shift 2
  [ "$(id -u)" = 0 ] || give_up "a bare root is made by root: run this as root"
  need mmdebstrap
  archive=$(dirname "$root")/root_$(echo "$release" "$@" | tr ' ' _).tar
  mkdir -p "$(dirname "$root")"
  if [ ! -f "$archive" ]; then
    # apt, which is there in any case, for --include takes no empty list.
    step mmdebstrap --quiet --variant=minbase --include="$(echo apt "$@" | tr ' ' ,)" "$release" \
      "${archive%.tar}.part.tar"
    mv "${archive%.tar}.part.tar" "$archive"
  fi
  rm -rf --one-file-system "$root"
  mkdir "$root"
  tar -C "$root" --exclude='./dev/*' -xf "$archive"
  # Without its own name a machine waits for a name server, mpirun 8 s.
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  for device in null zero random urandom; do
    cp -a /dev/$device "$root/dev/"
  done
  mkdir "$root/dev/pts" "$root/dev/shm"
  ln -s pts/ptmx "$root/dev/ptmx"
  ln -s /proc/self/fd "$root/dev/fd"
}

# enter_bare_root FOLDER: mounts what programs in it look for.
enter_bare_root() {
  mount -t proc proc "$1/proc"
  mount -t sysfs -o ro sysfs "$1/sys"
  mount -t devpts devpts "$1/dev/pts"
  mount -t tmpfs tmpfs "$1/dev/shm"
}

# leave_bare_root FOLDER: unmounts all that is mounted in it.
leave_bare_root() {
  awk -v root="$1/" 'index($2, root) == 1 { print $2 }' /proc/mounts | sort -r | while IFS= read -r place; do
    umount "$place" || umount -l "$place"
  done
}
