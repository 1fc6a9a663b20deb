import { readdirSync, readFileSync } from 'node:fs'

const PAGE_BYTES = 4096
const TICK_MS = 10

/** What the processes below one use together, as far as /proc tells. */
export interface TreeUsage {
  readonly cpuMs: number
  readonly residentBytes: number
  readonly tasks: number
  readonly pids: readonly number[]
}

const NOTHING: TreeUsage = { cpuMs: 0, residentBytes: 0, tasks: 0, pids: [] }

/** Sums over a process and all that descend from it. Zero where there is no /proc. */
export function treeUsage(root: number): TreeUsage {
  const children = new Map<number, number[]>()
  const fields = new Map<number, readonly string[]>()
  try {
    for (const name of readdirSync('/proc')) {
      const pid = Number(name)
      if (!Number.isInteger(pid)) continue
      const stat = statOf(pid)
      if (stat === null) continue
      fields.set(pid, stat)
      const parent = Number(stat[1])
      children.set(parent, [...(children.get(parent) ?? []), pid])
    }
  } catch {
    return NOTHING
  }
  const usage = { cpuMs: 0, residentBytes: 0, tasks: 0 }
  const pids: number[] = []
  const open = fields.has(root) ? [root] : []
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    const stat = fields.get(pid) ?? []
    // After the name: user, system and waited-for time are the 12th to the 15th field, threads the 18th, resident pages the 22nd.
    usage.cpuMs += [11, 12, 13, 14].reduce((sum, at) => sum + Number(stat[at] ?? 0), 0) * TICK_MS
    usage.tasks += Number(stat[17] ?? 1)
    usage.residentBytes += Number(stat[21] ?? 0) * PAGE_BYTES
    pids.push(pid)
    open.push(...(children.get(pid) ?? []))
  }
  return { ...usage, pids }
}

function statOf(pid: number): readonly string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    // It ended while we looked.
    return null
  }
}
