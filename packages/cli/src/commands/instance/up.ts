import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { CommandError, type Invocation } from '@parley/command-line'
import { instanceOf } from '../../config/instance.ts'
import { loadSettings } from '../../config/load.ts'
import type { Settings } from '../../config/setting.ts'
import { isPageBuilt, PAGE_BUILDING } from '../../data/page-files.ts'
import type { Ready } from '../../gateway-process/plan.ts'
import { type LocalHostPlan, localHostPlan, SLOTS_USUAL } from '../../host-process/host-plan-of.ts'
import type { HostPlan } from '../../host-process/plan.ts'
import { localPlan } from '../../judge-process/judge-plan-of.ts'
import type { JudgePlan } from '../../judge-process/plan.ts'
import { hostMessage, judgeMessage, readyAt, readyMessage } from '../../up/ready-message.ts'
import { sameInstance, signInMessage } from '../../up/sign-in-message.ts'
import { supervise } from '../../up/supervise.ts'

const TOKEN_BYTES = 32
const HOST_NAME_CHARS = 50
const NAME_BYTES = 2

/** Everything on one machine, until it is told to end. */
export async function up(invocation: Invocation): Promise<number> {
  const { io, values } = invocation
  const given = instanceOf(invocation)
  // A person at a terminal wants the link, not a line per request; who asked for a level gets it.
  const wasAsked =
    values.has('log') ||
    loadSettings({ env: io.env, cwd: io.cwd, configFile: values.text('config') }).values.logLevel?.source !== 'default'
  const judge = judgeOf(values.has('no-judge'))
  const startsHost = !values.has('no-host')
  const freshToken = (): string => Buffer.from(io.random(TOKEN_BYTES)).toString('hex')
  const settings: Settings = {
    ...given,
    logLevel: wasAsked ? given.logLevel : 'warn',
    // Its own workers get tokens that live as long as this process, unless one is set for all of their kind.
    judgeToken: given.judgeToken ?? (judge.starts ? freshToken() : undefined),
    hostToken: given.hostToken ?? (startsHost ? freshToken() : undefined),
  }
  const judgeFor = (ready: Ready): JudgePlan => ({
    ...localPlan(invocation, settings),
    url: workerUrl(ready, settings),
    token: settings.judgeToken ?? '',
    logLevel: settings.logLevel,
  })
  const localHost = startsHost ? localHostPlan(invocation, settings) : undefined
  const hostFor = (local: LocalHostPlan, ready: Ready): HostPlan => ({
    ...local,
    url: new URL(workerUrl(ready, settings)).origin.replace(/^ws/, 'http'),
    token: settings.hostToken ?? '',
    // Another one at each start: nobody has to wait until the one before is known to be gone.
    name: `${hostname()
      .replace(/[^A-Za-z0-9._-]/g, '-')
      .slice(0, HOST_NAME_CHARS)}-${Buffer.from(io.random(NAME_BYTES)).toString('hex')}`,
    labels: [],
    slots: SLOTS_USUAL,
  })
  // A certificate that nobody else vouches for is good enough for our own workers.
  const env = settings.tlsCert === undefined ? {} : { NODE_EXTRA_CA_CERTS: resolve(io.cwd, settings.tlsCert) }
  const host = startsHost ? 'starting' : 'none (--no-host)'
  return supervise(
    {
      gateway: { settings, cwd: io.cwd },
      onReady: (ready) => {
        const words = { judge: judge.says, host }
        io.out(
          values.has('json')
            ? `${JSON.stringify(ready)}\n`
            : io.typed(readyMessage(readyAt(ready, settings.publicUrl), words, signInMessage(ready, values))),
        )
        if (!isPageBuilt()) io.err(`The page is not built: ${PAGE_BUILDING}.\n`)
      },
      ...(judge.starts ? { judge: { planFor: judgeFor, env, onReady: (ready) => io.err(judgeMessage(ready)) } } : {}),
      ...(localHost === undefined
        ? {}
        : { host: { planFor: (ready) => hostFor(localHost, ready), env, onReady: (ready) => io.err(hostMessage(ready)) } }),
    },
    io,
  ).catch((error: unknown) => {
    throw error instanceof CommandError && error.code === 'locked' ? runsAlready(error, settings, invocation) : error
  })
}

/** Whoever starts it twice mostly looks for the way in. */
function runsAlready(cause: CommandError, { dataDir, adminUsername }: Settings, { io, values }: Invocation): CommandError {
  const link = `parley user link ${adminUsername}${sameInstance(values)}`
  return new CommandError('locked', `Parley runs already on the data folder ${resolve(io.cwd, dataDir)}`, {
    hint: `${link} makes a sign-in link that names its address; --data chooses another folder`,
    cause,
  })
}

function judgeOf(isUnwanted: boolean): { readonly starts: boolean; readonly says: string } {
  if (isUnwanted) return { starts: false, says: 'none (--no-judge)' }
  if (process.platform !== 'linux')
    return { starts: false, says: `none: programs can be judged safely on Linux only; run parley judge on such a machine` }
  return { starts: true, says: 'starting' }
}

/** Where our own workers dial: with TLS the name that the certificate is for, if we know it. */
function workerUrl({ ws }: Ready, { tlsCert, publicUrl }: Settings): string {
  if (tlsCert !== undefined && publicUrl !== undefined) return new URL('/api/mcp/ws', publicUrl.replace(/^http/, 'ws')).href
  const url = new URL(ws)
  // An address that means all of this machine's is none to dial.
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  if (url.hostname === '[::]') url.hostname = '[::1]'
  return url.href
}
