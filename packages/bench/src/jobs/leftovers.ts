import { readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Processes that run from this folder, and those in a box whose helper is gone: nobody would ever end them. */
export function processesOf(folder: string): readonly string[] {
  const ours = readlinkSync('/proc/self/ns/pid')
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, 'latin1').replaceAll('\0', ' ')
      const isOrphan = readlinkSync(`/proc/${name}/ns/pid`) !== ours && parentOf(name) === 1
      return command.includes(folder) || isOrphan ? [`${name} ${command}`] : []
    } catch {
      // It ended while we looked.
      return []
    }
  })
}

function parentOf(pid: string): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

/** What judges left of their jobs. Inputs are cached for the next one, and lock files are nobody's once unlocked. */
export async function jobFilesIn(workFolder: string): Promise<readonly string[]> {
  const entries = await readdir(workFolder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
  return files.filter((file) => !file.startsWith(join(workFolder, 'inputs/')) && !/\.lock(-journal)?$/.test(file))
}
