import { readFileSync, readdirSync } from 'node:fs'

/** Stands in the environment of a run, and so in that of all that it starts. */
export const RUN_VARIABLE = 'TEST_RUN_ID'

/** A process that outlived the run that it belongs to. */
export interface Leftover {
  readonly pid: number
  readonly command: string
}

/** What still runs of a run: everything in its group, and whoever left the group and kept its environment. */
export function leftoversOf(group: number, runId: string): readonly Leftover[] {
  if (process.platform !== 'linux') return isGroupAlive(group) ? [{ pid: -group, command: 'its process group' }] : []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const { state, group: own } = statOf(pid)
      const belongs = own === group || read(pid, 'environ').split('\0').includes(`${RUN_VARIABLE}=${runId}`)
      return belongs && state !== 'Z' ? [{ pid: Number(pid), command: commandOf(pid) }] : []
    })
}

function isGroupAlive(group: number): boolean {
  try {
    return process.kill(-group, 0)
  } catch {
    return false
  }
}

/** The name of the program stands in brackets and may hold anything. */
function statOf(pid: string): { readonly state: string; readonly group: number } {
  const [state = 'Z', , group = '-1'] = read(pid, 'stat').split(') ').at(-1)?.split(' ') ?? []
  return { state, group: Number(group) }
}

function commandOf(pid: string): string {
  return read(pid, 'cmdline').split('\0').join(' ').trim() || 'without a command line'
}

/** Empty when it has gone meanwhile or belongs to somebody else. */
function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
