import { readFileSync, readdirSync, readlinkSync } from 'node:fs'

/** Nobody looks at what they are while all processes together have no more. */
const FREE_DESCRIPTORS = 64
const FREE_BUFFERS = 32
/** What the kernel lets a program ask for; of sockets it grants twice as much. The numbers count where nothing tells. */
const SOCKET = { setting: '/proc/sys/net/core/wmem_max', usualBytes: 212_992 }
const PIPE = { setting: '/proc/sys/fs/pipe-max-size', usualBytes: 1024 * 1024 }

/** What is in no process's size: the tables of pages, and what sockets and pipes could hold, each beyond a few. */
export function bufferBytes(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + tableBytes(pid), 0) + heldBytes(pids)
}

function tableBytes(pid: number): number {
  try {
    return Number(/^VmPTE:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

function heldBytes(pids: readonly number[]): number {
  const descriptors = pids.map((pid) => ({ pid, names: namesOf(pid) }))
  if (descriptors.reduce((sum, { names }) => sum + names.length, 0) <= FREE_DESCRIPTORS) return 0
  const targets = new Set(descriptors.flatMap(({ pid, names }) => names.map((name) => targetOf(pid, name))))
  const count = (kind: string): number => [...targets].filter((target) => target.startsWith(`${kind}:[`)).length
  const beyond = (number: number): number => Math.max(0, number - FREE_BUFFERS)
  return beyond(count('socket')) * 2 * largestOf(SOCKET) + beyond(count('pipe')) * largestOf(PIPE)
}

function namesOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`)
  } catch {
    // It ended while we looked.
    return []
  }
}

function targetOf(pid: number, name: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${name}`)
  } catch {
    return ''
  }
}

function largestOf({ setting, usualBytes }: typeof SOCKET): number {
  try {
    return Number(readFileSync(setting, 'latin1')) || usualBytes
  } catch {
    return usualBytes
  }
}
