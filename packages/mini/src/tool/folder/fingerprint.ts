import { type BigIntStats, fstatSync, lstatSync } from 'node:fs'
import type { Dir } from './dir.ts'

/** What a file was when it was read: if this is still the same, nobody else has written it since. */
export type Fingerprint = string

function fingerprint({ dev, ino, size, mtimeNs }: BigIntStats): Fingerprint {
  return `${dev}:${ino}:${size}:${mtimeNs}`
}

export function fingerprintOpen(fd: number): Fingerprint {
  return fingerprint(fstatSync(fd, { bigint: true }))
}

/** `null`: there is nothing at that name. */
export function fingerprintAt(dir: Dir, name: string): Fingerprint | null {
  const stats = lstatSync(dir.at(name), { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? null : fingerprint(stats)
}
