import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { type EnvironmentEntry, readConfig, readEnvironments } from '@parley/codex/config'
import { type ExecBackend, type Executor, LastingExecutor, type LazyProcesses, openExecutor } from '@parley/executor'
import { dialFrames, lineFrames } from '@parley/rpc/frame'

/** The places that a file in the form of Codex's `environments.toml` names, each connected to when first needed, and again after it was lost. */
export function openEnvironments(file: string, processes: LazyProcesses, complain: (text: string) => void) {
  const places = new Map<string, LastingExecutor>()
  const open = async (id: string): Promise<Executor> => {
    const entry = readEnvironments(await readConfig(file)).get(id)
    if (entry === undefined) throw new TypeError(`environment_id: there is no environment ${JSON.stringify(id)} in ${file}`)
    const log = (message: string): void => complain(`${id}: ${message}\n`)
    return openExecutor({ ...wayTo(entry, processes), clientName: 'parley', inherit: 'core', log })
  }
  return {
    place: (id: string): Promise<ExecBackend> => {
      const place = places.get(id) ?? new LastingExecutor(() => open(id))
      places.set(id, place)
      return place.current()
    },
    close: async (): Promise<void> => {
      await Promise.all([...places.values()].map((place) => place.close()))
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
