import { closeSync, constants, fstatSync, mkdirSync, openSync, readdirSync, readSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Codex's own log of a conversation, below `sessions` of its home. */
export interface RolloutPiece {
  /** `2026/11/16/rollout-….jsonl` */
  readonly name: string
  /** Whole lines that were not read before. */
  readonly lines: readonly string[]
  /** Where to go on. */
  readonly nextByte: number
}

const NAME = /^\d{4}\/\d{2}\/\d{2}\/rollout-[0-9A-Za-z-]{1,120}\.jsonl$/
const UUID = /^[0-9a-f-]{36}$/
/** Years, months, days. */
const LEVELS = 3
const ENTRIES_MAX = 64
const READ_MAX_BYTES = 64 * 1024 * 1024
const NEWLINE = 10
const FOLDER_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
const FILE_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/**
 * What a conversation has come to since `fromByte`; `undefined`: there is no such file, or none that may be read. Whoever ran in
 * the home may have put links and other things anywhere, so every step is taken from a folder that is open, and none through a link.
 */
export function readRolloutLines(home: string, id: string, fromByte: number): RolloutPiece | undefined {
  if (!UUID.test(id)) return undefined
  const open: number[] = []
  const step = (path: string, flags: number): number | undefined => {
    try {
      const fd = openSync(path, flags)
      open.push(fd)
      return fd
    } catch {
      return undefined
    }
  }
  /** The newest days first. */
  const find = (folder: number, names: readonly string[]): RolloutPiece | undefined => {
    const entries = readdirSync(`/proc/self/fd/${folder}`).toSorted().toReversed().slice(0, ENTRIES_MAX)
    if (names.length === LEVELS) {
      const name = entries.find((entry) => entry.endsWith(`-${id}.jsonl`))
      if (name === undefined || !NAME.test([...names, name].join('/'))) return undefined
      const file = step(`/proc/self/fd/${folder}/${name}`, FILE_FLAGS)
      return file === undefined ? undefined : readLines(file, [...names, name].join('/'), fromByte)
    }
    for (const entry of entries) {
      const inner = /^\d{2,4}$/.test(entry) ? step(`/proc/self/fd/${folder}/${entry}`, FOLDER_FLAGS) : undefined
      const found = inner === undefined ? undefined : find(inner, [...names, entry])
      if (found !== undefined) return found
    }
    return undefined
  }
  try {
    const sessions = step(join(home, 'sessions'), FOLDER_FLAGS)
    return sessions === undefined ? undefined : find(sessions, [])
  } finally {
    for (const fd of open) closeSync(fd)
  }
}

function readLines(file: number, name: string, fromByte: number): RolloutPiece | undefined {
  const about = fstatSync(file)
  const length = about.size - fromByte
  if (!about.isFile() || length < 0 || length > READ_MAX_BYTES) return undefined
  const bytes = Buffer.alloc(length)
  const got = bytes.subarray(0, length === 0 ? 0 : readSync(file, bytes, 0, length, fromByte))
  const whole = got.subarray(0, got.lastIndexOf(NEWLINE) + 1)
  const lines = whole
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
  return { name, lines, nextByte: fromByte + whole.length }
}

/** Puts a log back into a home in which nothing has run yet; false where the name is not one of Codex's. */
export function writeRolloutLines(home: string, name: string, lines: readonly string[]): boolean {
  if (!NAME.test(name)) return false
  const path = join(home, 'sessions', name)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''), { flag: 'wx', mode: 0o600 })
  return true
}
