/** The lines of a first process that mount what a machine needs, with cgroup 2 as its only hierarchy. */
export const GUEST_MOUNTS: readonly string[] = [
  'export PATH=/usr/sbin:/usr/bin:/sbin:/bin',
  'mount -t proc proc /proc && mount -t sysfs sys /sys && mount -t cgroup2 none /sys/fs/cgroup',
  'mount -t tmpfs run /run && mount -t tmpfs tmp /dev',
  ...Object.entries({ null: 3, zero: 5, full: 7, random: 8, urandom: 9 }).map(
    ([name, minor]) => `mknod -m 666 /dev/${name} c 1 ${minor}`,
  ),
]

/** A shell's word, whatever is in it. */
export const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`
