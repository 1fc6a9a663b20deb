import {
  dialTunnel,
  type ExecBackend,
  executorFolder,
  type ExecutorOptions,
  LastingExecutor,
  openExecutor,
} from '@parley/executor'
import { WorkerName } from '@parley/protocol'
import { dialFrames, WireError } from '@parley/rpc/frame'
import { CommandError, type Invocation, usageError } from '@parley/command-line'
import { readSecretLine } from '@parley/command-line/commands'
import { isPostgres } from '../config/database-url.ts'
import { instanceOf } from '../config/instance.ts'
import { dataDirAt } from '../data/data-dir.ts'

export interface NamedExecutor extends AsyncDisposable {
  /** The executor in a session that is not lost, and the folder that it works in: after a restart that may be another. */
  current(): Promise<{ readonly place: ExecBackend; readonly folder: string }>
}

/** The executor that `--executor` names. Throws why it cannot be reached. */
export async function namedExecutor(invocation: Invocation): Promise<NamedExecutor | undefined> {
  const { io, values } = invocation
  const given = values.text('executor')
  if (given === undefined) {
    const stray = ['executor-token-file', 'gateway'].find((option) => values.has(option))
    if (stray !== undefined) throw usageError(`--${stray} goes with --executor`)
    return undefined
  }
  const { dial, explain } = wayTo(invocation, given)
  const log = (message: string): void => io.err(`${message}\n`)
  const lasting = new LastingExecutor(() => openExecutor({ dial, clientName: 'parley-proxy', inherit: 'core', log }))
  await lasting.current().catch((error: unknown) => {
    throw explain(error)
  })
  return {
    current: async () => {
      const place = await lasting.current()
      return { place, folder: executorFolder(place) }
    },
    [Symbol.asyncDispose]: () => lasting.close(),
  }
}

interface Way extends Pick<ExecutorOptions, 'dial'> {
  /** A failure with what helps: the wire does not know which option led there. */
  readonly explain: (error: unknown) => unknown
}

function wayTo(invocation: Invocation, given: string): Way {
  const { io, values } = invocation
  const file = values.text('executor-token-file')
  const ofFile = file === undefined ? undefined : readSecretLine({ what: '--executor-token-file', file, cwd: io.cwd }, io)
  if (/^(wss?:\/\/.|unix:.)/.test(given)) {
    if (values.has('gateway')) throw usageError('--gateway is for an executor by its name; a URL is dialled itself')
    return {
      dial: () => dialFrames({ url: given, ...(ofFile === undefined ? {} : { token: ofFile }) }),
      explain: (error) => withHint(error, { unreachable: EXECUTOR_AWAY, unauthorized: 'check --executor-token-file' }),
    }
  }
  const name = WorkerName.safeParse(given)
  if (!name.success)
    throw usageError(
      `--executor must be ws://…, wss://…, unix:PATH or the name of an executor, not ${JSON.stringify(given)}`,
      'parley executor list shows the names',
    )
  const { url, token, data } = gatewayOf(invocation, ofFile)
  return {
    dial: () => dialTunnel(url, { executor: name.data, ...(token === undefined ? {} : { token }) }),
    explain: (error) => {
      const isAway = error instanceof WireError && error.code === 'unreachable'
      if (data !== undefined && isAway) return new CommandError('gateway_missing', `no gateway runs on ${data}`, { cause: error })
      return withHint(error, { unreachable: GATEWAY_AWAY, unauthorized: 'check --executor-token-file or PARLEY_TOKEN' })
    },
  }
}
const EXECUTOR_AWAY = 'check --executor and that the exec-server runs'
const GATEWAY_AWAY = 'check --gateway and that the gateway runs'

function withHint(error: unknown, hints: Readonly<Record<string, string>>): unknown {
  const hint = error instanceof WireError ? hints[error.code] : undefined
  if (!(error instanceof WireError) || hint === undefined) return error
  return new CommandError(error.code, error.message, { hint, cause: error })
}

/** The gateway that knows the executor: by its URL, or the one that runs on the data folder, by the socket of its owner. */
function gatewayOf(
  invocation: Invocation,
  ofFile: string | undefined,
): { readonly url: string; readonly token?: string; readonly data?: string } {
  const { io, values } = invocation
  const given = values.text('gateway') ?? io.env['PARLEY_URL'] ?? ''
  const token = ofFile ?? io.env['PARLEY_TOKEN'] ?? ''
  if (given === '') {
    const { databaseUrl, dataDir } = instanceOf(invocation)
    const { adminSocket, path } = dataDirAt(io.cwd, dataDir)
    if (!isPostgres(databaseUrl)) return { url: `unix:${adminSocket}`, data: path }
    throw usageError('on PostgreSQL an executor is reached through a gateway by its URL', 'give --gateway, or PARLEY_URL')
  }
  const url = URL.parse(given)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw usageError(`--gateway must be http://HOST:PORT or https://…, not ${JSON.stringify(given)}`)
  if (token === '')
    throw usageError(
      `a token is needed for ${url.origin}: give it by --executor-token-file FILE, or in PARLEY_TOKEN`,
      'parley token create --role user --user NAME makes one, for an admin',
    )
  return { url: url.origin, token }
}
