import { readdir, readFile } from 'node:fs/promises'

/** `sysconf(_SC_CLK_TCK)` on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100
const PAGE_BYTES = 4096

interface ProcessStat {
  readonly pid: number
  readonly parent: number
  readonly cpuMs: number
  readonly residentBytes: number
}

/** What a process and everything below it has used so far. */
export interface TreeUse {
  readonly cpuMs: number
  readonly residentBytes: number
  readonly processes: number
}

export async function treeUse(root: number): Promise<TreeUse> {
  const tree = below(root, await allProcesses())
  return {
    cpuMs: tree.reduce((sum, process) => sum + process.cpuMs, 0),
    residentBytes: tree.reduce((sum, process) => sum + process.residentBytes, 0),
    processes: tree.length,
  }
}

function below(root: number, all: readonly ProcessStat[]): readonly ProcessStat[] {
  const inside = new Set([root])
  for (let grew = true; grew;) {
    const more = all.filter((process) => !inside.has(process.pid) && inside.has(process.parent))
    for (const process of more) inside.add(process.pid)
    grew = more.length > 0
  }
  return all.filter((process) => inside.has(process.pid))
}

async function allProcesses(): Promise<readonly ProcessStat[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const stats = await Promise.all(
    pids.map(async (pid) => statOf(Number(pid), await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''))),
  )
  return stats.filter((stat) => stat !== undefined)
}

function statOf(pid: number, text: string): ProcessStat | undefined {
  // The name stands in brackets and may hold anything, so we count from the last one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [parent, resident] = [fields[1], fields[21]].map(Number)
  if (parent === undefined || resident === undefined || text === '') return undefined
  // Its own time and that of children it has waited for: nothing is lost when a child ends, and nothing counts twice.
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  return { pid, parent, cpuMs: (ticks * 1000) / TICKS_PER_SECOND, residentBytes: resident * PAGE_BYTES }
}
