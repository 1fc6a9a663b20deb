import { fileURLToPath } from 'node:url'
import { type ExecBackend, openExecutor } from '@parley/executor'
import { dialFrames } from '@parley/rpc/frame'
import type { Invocation } from '../command-line/command.ts'
import { usageError } from '../command-line/command-error.ts'
import { readSecretLine } from '../command-line/private-file.ts'

/** The exec-server that `--executor` names, and the folder that it works in. */
export async function namedExecutor({
  io,
  values,
}: Invocation): Promise<({ readonly place: ExecBackend; readonly folder: string } & AsyncDisposable) | undefined> {
  const url = values.text('executor')
  const file = values.text('executor-token-file')
  if (url === undefined) {
    if (file !== undefined) throw usageError('--executor-token-file goes with --executor')
    return undefined
  }
  if (!/^(wss?:\/\/.|unix:.)/.test(url))
    throw usageError(`--executor must be ws://…, wss://… or unix:PATH, not ${JSON.stringify(url)}`)
  const token = file === undefined ? {} : { token: readSecretLine({ what: '--executor-token-file', file, cwd: io.cwd }, io) }
  const place = await openExecutor({
    dial: () => dialFrames({ url, ...token }),
    clientName: 'parley-proxy',
    inherit: 'core',
    log: (message) => io.err(`${message}\n`),
  })
  const { cwd } = place.info
  const folder = typeof cwd === 'string' && cwd.startsWith('file:') ? fileURLToPath(cwd) : '/'
  return { place, folder, [Symbol.asyncDispose]: () => place.close() }
}
