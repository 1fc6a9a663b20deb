import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { type EnvironmentEntry, readConfig, readEnvironments } from '@parley/codex/config'
import { type ExecBackend, type LazyProcesses, openExecutor } from '@parley/executor'
import { dialFrames, lineFrames } from '@parley/rpc/frame'

/** The places that a file in the form of Codex's `environments.toml` names, each connected to once, when first needed. */
export function openEnvironments(file: string, processes: LazyProcesses, complain: (text: string) => void) {
  const opening = new Map<string, Promise<ExecBackend & AsyncDisposable>>()
  const open = async (id: string): Promise<ExecBackend & AsyncDisposable> => {
    const entry = readEnvironments(await readConfig(file)).get(id)
    if (entry === undefined) throw new TypeError(`environment_id: there is no environment ${JSON.stringify(id)} in ${file}`)
    const log = (message: string): void => complain(`${id}: ${message}\n`)
    return openExecutor({ ...wayTo(entry, processes), clientName: 'parley', inherit: 'core', log })
  }
  return {
    place: (id: string): Promise<ExecBackend> => {
      const place = opening.get(id) ?? open(id)
      opening.set(id, place)
      // The next one may find it there.
      place.catch(() => opening.delete(id))
      return place
    },
    close: async (): Promise<void> => {
      const opened = await Promise.allSettled(opening.values())
      await Promise.all(opened.map(async (each) => (each.status === 'fulfilled' ? each.value[Symbol.asyncDispose]() : undefined)))
    },
  }
}

function wayTo(entry: EnvironmentEntry, processes: LazyProcesses) {
  if ('url' in entry) return { dial: () => dialFrames({ url: entry.url }) }
  const { program, args, env, cwd = tmpdir() } = entry
  const dial = async () => {
    const { stdin, stdout } = await processes.start({ command: program, args, env, cwd: resolve(cwd) })
    return lineFrames({ input: stdout, output: stdin })
  }
  return { dial, resumes: false }
}
