import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { WorkerLabels, WorkerName } from '@parley/protocol'
import { atPath, type Invocation, type OptionSpec, usageError } from '@parley/command-line'

/** For judge and host. */
export const WORKER_LOG_OPTION = {
  log: {
    doc: 'how much is logged to stderr (PARLEY_LOG)',
    value: 'LEVEL',
    choices: ['debug', 'info', 'warn', 'error', 'silent'],
  },
} as const satisfies Record<string, OptionSpec>

/** What `--name` calls a host or an executor. */
export function workerNameOf(values: Invocation['values']): { readonly name?: string } {
  const name = WorkerName.optional().safeParse(values.text('name'))
  if (!name.success) throw usageError(`--name ${name.error.issues[0]?.message}`)
  return name.data === undefined ? {} : { name: name.data }
}

/** What each `--label KEY=VALUE` says of it. */
export function labelsOf(values: Invocation['values']): WorkerLabels {
  const given = values.all('label')
  const pairs = given.map((text) => {
    const at = text.indexOf('=')
    if (at < 1) throw usageError(`--label must be KEY=VALUE, not ${JSON.stringify(text)}`)
    return { key: text.slice(0, at), value: text.slice(at + 1) }
  })
  const labels = WorkerLabels.safeParse(pairs)
  if (labels.success) return labels.data
  const [issue] = labels.error.issues
  const at = issue?.path[0]
  throw usageError(`--label ${typeof at === 'number' ? `${given[at]}: ` : ''}${issue?.message}`)
}

/** The real paths of the folders that each `--root` names. */
export function rootsOf({ values, io }: Pick<Invocation, 'values' | 'io'>): readonly string[] {
  return values.all('root').map((given) => {
    const path = atPath(`--root ${given}`, () => realpathSync(resolve(io.cwd, given)))
    if (statSync(path).isDirectory()) return path
    throw usageError(`--root ${given} is not a folder`)
  })
}
