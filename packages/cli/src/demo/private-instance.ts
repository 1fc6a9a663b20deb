import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Connect, SteadyClient } from '@parley/client'
import { connectClient, httpTransport } from '@parley/rpc'
import { CommandError, type Io, Values } from '@parley/command-line'
import type { ChannelSetting } from '../config/channel-setting.ts'
import { requireSettings } from '../config/load.ts'
import type { Settings } from '../config/setting.ts'
import { cacheDirOf } from '../data/cache-dir.ts'
import { dataDirAt } from '../data/data-dir.ts'
import type { Ready } from '../gateway-process/plan.ts'
import { openCommandClient } from '@parley/shell'
import { localPlan } from '../judge-process/judge-plan-of.ts'
import type { JudgePlan, JudgeReady } from '../judge-process/plan.ts'
import { supervise } from '../up/supervise.ts'
import { ownVersion } from '../version.ts'

/** An instance of its own: gateway and judge as processes, in a folder that goes with it. */
export interface PrivateInstance {
  readonly ready: Ready
  readonly judge: JudgeReady
  caller(): Promise<SteadyClient>
  /** Ends the processes in order and removes the folder. */
  close(): Promise<void>
}

const TOKEN_BYTES = 32
const FOLDER = 'parley-demo-'

/**
 * Starts gateway and judge with one channel, on a free port. Nothing of the environment or of a settings file decides how.
 * Throws when either cannot be had, and leaves nothing behind.
 */
export async function openPrivateInstance(channel: ChannelSetting, io: Io, signal: AbortSignal): Promise<PrivateInstance> {
  const folder = mkdtempSync(join(tmpdir(), FOLDER))
  const flags = { dataDir: folder, port: '0', logLevel: 'error' }
  const settings: Settings = {
    ...requireSettings({ env: {}, cwd: folder, configFile: null, flags }),
    channels: [channel],
    judgeToken: Buffer.from(io.random(TOKEN_BYTES)).toString('hex'),
  }
  const stopping = Promise.withResolvers<() => void>()
  const started = Promise.withResolvers<{ readonly ready: Ready; readonly judge: JudgeReady }>()
  started.promise.catch(() => {})
  let gateway: Ready | undefined
  const running = supervise(
    {
      gateway: { settings, cwd: folder },
      onReady: (ready) => (gateway = ready),
      judge: {
        planFor: (ready) => judgePlan(ready, settings, io),
        env: {},
        onReady: (judge) => gateway !== undefined && started.resolve({ ready: gateway, judge }),
        onMissing: (error) => started.reject(error),
      },
    },
    {
      env: io.env,
      now: io.now,
      // What the two say when all is well is no part of the show.
      err: (text) => (String(text).startsWith('stopping;') ? undefined : io.err(text)),
      onSignal: (asked) => {
        stopping.resolve(() => asked('SIGTERM'))
        return () => {}
      },
    },
  )
  running.catch((error: unknown) => started.reject(error))
  const close = async (): Promise<void> => {
    ;(await stopping.promise)()
    await running.catch(() => {})
    rmSync(folder, { recursive: true, force: true })
  }
  const interrupted = (): void =>
    started.reject(new CommandError('interrupted', 'interrupted before it began', { exitCode: INTERRUPTED_EXIT }))
  signal.addEventListener('abort', interrupted, { once: true })
  try {
    const { ready, judge } = await started.promise
    return { ready, judge, caller: () => openCaller(folder, io), close }
  } catch (error) {
    await close()
    throw error
  } finally {
    signal.removeEventListener('abort', interrupted)
  }
}
const INTERRUPTED_EXIT = 130

function judgePlan({ ws, data }: Ready, settings: Settings, io: Io): JudgePlan {
  const { judgeToken = '', logLevel } = settings
  const local = localPlan({ values: new Values(new Map()), io }, { ...settings, dataDir: data })
  // Compilers and programs are kept where every judge of this user keeps them: the second demo is quicker.
  return { ...local, url: ws, token: judgeToken, logLevel, cacheFolder: cacheDirOf(io, data) }
}

function openCaller(folder: string, io: Io): Promise<SteadyClient> {
  const { adminSocket } = dataDirAt('/', folder)
  const connect: Connect = (heard, signal) =>
    connectClient(httpTransport({ url: 'http://localhost/mcp', socketPath: adminSocket }), {
      clientInfo: { name: 'parley-demo', version: ownVersion() },
      onNotification: heard,
      signal,
    })
  return openCommandClient(connect, io)
}
