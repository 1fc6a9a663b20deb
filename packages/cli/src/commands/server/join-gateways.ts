import { type ExecServer, joinGateways } from '@parley/executor'
import { WorkerLabels, WorkerName } from '@parley/protocol'
import { type Invocation, usageError } from '@parley/command-line'
import { readSecretLine } from '@parley/command-line/commands'
import { connectWorker } from '../../process/connect-worker.ts'
import { hearEnd } from '../../process/hear-end.ts'
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
  const name = values.text('name')
  const named = WorkerName.optional().safeParse(name)
  if (!named.success) throw usageError(`--name ${named.error.issues[0]?.message}`)
  return {
    kind: 'gateway',
    url: url.origin.replace(/^ws/, 'http'),
    token: tokenOf({ io, values }),
    ...(named.data === undefined ? {} : { name: named.data }),
    labels: labelsOf(values.all('label')),
  }
}

/** Takes part until it is told to end. */
export async function serveGateways(
  { io, values }: Invocation,
  server: ExecServer,
  { url, token, name, labels, slots }: JoinPlace & { readonly slots: number },
): Promise<void> {
  const end = hearEnd(io)
  const joining = joinGateways({
    url,
    token,
    connect: (gateway) => connectWorker('executor', { url: `${gateway.replace(/^http/, 'ws')}/api/mcp/ws`, token }),
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

function labelsOf(given: readonly string[]): WorkerLabels {
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
