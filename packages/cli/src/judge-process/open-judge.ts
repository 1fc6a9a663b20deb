import { openWorker } from '@parley/judge'
import type { Client } from '@parley/rpc'
import { ownVersion } from '../version.ts'
import { connectWorker } from '../process/connect-worker.ts'
import { workerLog } from '../process/worker-log.ts'
import { openEngines } from './open-engines.ts'
import { type Testing, openTesting, tryLock } from './open-testing.ts'
import type { JudgePlan, JudgeReady } from './plan.ts'

export interface JudgePorts {
  readonly now: () => number
  readonly random: (size: number) => Uint8Array
  /** Where log lines go. */
  readonly err: (text: string) => void
  /** Gives up while it is not ready yet. */
  readonly signal?: AbortSignal
}
export interface OpenJudge {
  readonly ready: JudgeReady
  /** Takes no more jobs; after `graceMs` what is not done is given back. A shorter grace may follow a longer. */
  close(graceMs: number): Promise<void>
}

/** Opens sandbox, tester and worker, and waits for the gateway. */
export async function openJudge(plan: JudgePlan, ports: JudgePorts): Promise<OpenJudge> {
  const log = workerLog('judge', plan, ports)
  const testing = await openTesting(plan, (message) => log('warn', message))
  try {
    return await openWork(plan, ports, testing, log)
  } catch (error) {
    await testing.close()
    throw error
  }
}

async function openWork(
  plan: JudgePlan,
  ports: JudgePorts,
  testing: Testing,
  log: ReturnType<typeof workerLog>,
): Promise<OpenJudge> {
  const { machineId, slots, url, workFolder } = plan
  const { sandbox, tester } = testing
  const { driver, tier, enforced, missing } = sandbox.report
  const facts = {
    version: ownVersion(),
    languages: tester.languages.map(({ language, version }) => ({ language, version })),
    sandbox: { driver, tier, enforced: { ...enforced }, missing: [...missing] },
    slots,
  }
  const engines =
    plan.engine === 'none' ? undefined : openEngines(plan, { ...ports, sandbox, warn: (message) => log('warn', message) })
  if (engines !== undefined) log(engines.words.level, `engines: ${engines.words.text}`)
  const dial = connectWorker('judge', plan)
  let first: Client | undefined
  const worker = await openWorker({
    connect: async (heard, signal) => {
      const client = await dial(heard, signal)
      first ??= client
      return client
    },
    tester,
    ...(engines === undefined ? {} : { generator: engines.generator }),
    ...(plan.attempts === undefined ? {} : { limits: { attempts: plan.attempts } }),
    machineId,
    ...(plan.name === undefined ? {} : { name: plan.name }),
    facts: { ...facts, engines: [...(engines?.names ?? [])] },
    workFolder,
    tryLock,
    log,
    now: ports.now,
    random: ports.random,
    ...(ports.signal === undefined ? {} : { signal: ports.signal }),
  }).catch(async (error: unknown) => {
    await engines?.close()
    throw error
  })
  const close = async (graceMs: number): Promise<void> => {
    await worker.stop(graceMs)
    await engines?.close()
    await testing.close()
  }
  const name = plan.name ?? (await tokenName(first)) ?? machineId
  return { ready: { machine_id: machineId, name, url, slots, languages: facts.languages, sandbox: facts.sandbox }, close }
}

/** What the token is called; `undefined` for one that is set for all judges, and when the gateway went away again. */
async function tokenName(client: Client | undefined): Promise<string | undefined> {
  const account = await client?.callTool('account.get', {}).catch(() => undefined)
  return account === undefined || account.token_id === null ? undefined : account.name
}
