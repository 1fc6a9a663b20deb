import { resolve } from 'node:path'
import { CommandError, type Invocation } from '@parley/command-line'
import { instanceOf } from '../../config/instance.ts'
import { loadSettings } from '../../config/load.ts'
import type { Settings } from '../../config/setting.ts'
import { isPageBuilt, PAGE_BUILDING } from '../../data/page-files.ts'
import type { Ready } from '../../gateway-process/plan.ts'
import { localPlan } from '../../judge-process/judge-plan-of.ts'
import type { JudgePlan } from '../../judge-process/plan.ts'
import { judgeMessage, readyAt, readyMessage } from '../../up/ready-message.ts'
import { sameInstance, signInMessage } from '../../up/sign-in-message.ts'
import { supervise } from '../../up/supervise.ts'

const TOKEN_BYTES = 32

/** Everything on one machine, until it is told to end. */
export async function up(invocation: Invocation): Promise<number> {
  const { io, values } = invocation
  const given = instanceOf(invocation)
  // A person at a terminal wants the link, not a line per request; who asked for a level gets it.
  const wasAsked =
    values.has('log') ||
    loadSettings({ env: io.env, cwd: io.cwd, configFile: values.text('config') }).values.logLevel?.source !== 'default'
  const judge = judgeOf(values.has('no-judge'))
  const settings: Settings = {
    ...given,
    logLevel: wasAsked ? given.logLevel : 'warn',
    // Its own judge gets a token that lives as long as this process, unless one is set for all judges.
    judgeToken: given.judgeToken ?? (judge.starts ? Buffer.from(io.random(TOKEN_BYTES)).toString('hex') : undefined),
  }
  const judgeFor = (ready: Ready): JudgePlan => ({
    ...localPlan(invocation, settings),
    url: judgeUrl(ready, settings),
    token: settings.judgeToken ?? '',
    logLevel: settings.logLevel,
  })
  return supervise(
    {
      gateway: { settings, cwd: io.cwd },
      judgeFor: judge.starts ? judgeFor : undefined,
      // A certificate that nobody else vouches for is good enough for our own judge.
      judgeEnv: settings.tlsCert === undefined ? {} : { NODE_EXTRA_CA_CERTS: resolve(io.cwd, settings.tlsCert) },
      onReady: (ready) => {
        io.out(
          values.has('json')
            ? `${JSON.stringify(ready)}\n`
            : io.typed(readyMessage(readyAt(ready, settings.publicUrl), judge.says, signInMessage(ready, values))),
        )
        if (!isPageBuilt()) io.err(`The page is not built: ${PAGE_BUILDING}.\n`)
      },
      onJudge: (ready) => io.err(judgeMessage(ready)),
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

/** Where our own judge dials: with TLS the name that the certificate is for, if we know it. */
function judgeUrl({ ws }: Ready, { tlsCert, publicUrl }: Settings): string {
  if (tlsCert !== undefined && publicUrl !== undefined) return new URL('/api/mcp/ws', publicUrl.replace(/^http/, 'ws')).href
  const url = new URL(ws)
  // An address that means all of this machine's is none to dial.
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  if (url.hostname === '[::]') url.hostname = '[::1]'
  return url.href
}
