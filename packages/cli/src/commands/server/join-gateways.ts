import { type ExecServer, joinAsExecutor } from '@parley/executor'
import type { WorkerLabels } from '@parley/protocol'
import { type Invocation, usageError } from '@parley/command-line'
import { hearEnd, readSecretLine } from '@parley/command-line/commands'
import { labelsOf, workerNameOf } from '../../option/worker-options.ts'
import { connectAt } from '../../process/connect-worker.ts'
import { ownVersion } from '../../version.ts'

/** A gateway to take part in, and as whom. */
export interface JoinPlace {
  readonly kind: 'gateway'
  /** `http://host:port` or `https://…`, without a path. */
  readonly url: string
  readonly token: string
  readonly name?: string
  readonly labels: WorkerLabels
}

const JOIN_ONLY = ['name', 'label'] as const
const LISTEN_ONLY = ['listen', 'tls-cert', 'tls-key', 'insecure'] as const

/** What `--join` asks for; `undefined` where it is not given. */
export function joinPlaceOf({ io, values }: Invocation): JoinPlace | undefined {
  const given = values.text('join')
  if (given === undefined) {
    const stray = JOIN_ONLY.find((option) => values.has(option))
    if (stray !== undefined) throw usageError(`--${stray} goes with --join`)
    return undefined
  }
  const stray = LISTEN_ONLY.find((option) => values.has(option))
  if (stray !== undefined) throw usageError(`--${stray} does not go with --join: nothing listens there`)
  const url = URL.parse(given)
  if (url === null || !/^(http|ws)s?:$/.test(url.protocol) || url.pathname !== '/')
    throw usageError(`--join must be http://HOST:PORT or https://…, not ${JSON.stringify(given)}`)
  return {
    kind: 'gateway',
    url: url.origin.replace(/^ws/, 'http'),
    token: tokenOf({ io, values }),
    ...workerNameOf(values),
    labels: labelsOf(values),
  }
}

/** Takes part until it is told to end. */
export async function serveGateways(
  { io, values }: Invocation,
  server: ExecServer,
  { url, token, name, labels, slots }: JoinPlace & { readonly slots: number },
): Promise<void> {
  const end = hearEnd(io)
  const joining = joinAsExecutor({
    url,
    token,
    connect: connectAt('executor', token),
    server,
    version: ownVersion(),
    ...(name === undefined ? {} : { name }),
    labels,
    slots,
    log: (message) => io.err(`${message}\n`),
    signal: end.signal,
  })
  const joined = await end.before(joining, 'the gateway', (late) => late.close())
  io.out(values.has('json') ? `${JSON.stringify({ name: joined.name, url })}\n` : `${joined.name} takes part at ${url}\n`)
  await end.asked
  await joined.close()
  end.ignore()
}

function tokenOf({ io, values }: Pick<Invocation, 'io' | 'values'>): string {
  const file = values.text('token-file')
  const token =
    file === undefined ? io.env['PARLEY_EXECUTOR_TOKEN'] : readSecretLine({ what: '--token-file', file, cwd: io.cwd }, io)
  if (token !== undefined && token !== '') return token
  throw usageError(
    '--join needs a token',
    'make one with parley token create --role executor --name N, and give it by --token-file or PARLEY_EXECUTOR_TOKEN',
  )
}
