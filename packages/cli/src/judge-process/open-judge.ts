import { mkdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { openTester, openWorker, type Tester, type TryLock } from '@parley/judge'
import { openSandbox, type Sandbox } from '@parley/sandbox'
import { lockFile } from '@parley/store'
import { CommandError } from '../command-line/command-error.ts'
import { ownVersion } from '../version.ts'
import { connectJudge } from './connect-judge.ts'
import { judgeLog } from './judge-log.ts'
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

/** Judges of one user on one machine; each keeps compiled programs of its own. */
const JUDGES_MAX = 64

/** Opens sandbox, tester and worker, and waits for the gateway. */
export async function openJudge(plan: JudgePlan, ports: JudgePorts): Promise<OpenJudge> {
  const log = judgeLog(plan.logLevel, plan.token, ports)
  const sandbox = await openSandbox({
    driver: plan.sandbox,
    cacheFolder: join(plan.cacheFolder, 'sandbox'),
    runFolder: join(plan.workFolder, 'boxes'),
  })
  if (sandbox.report.driver === 'none') log('warn', 'there is NO sandbox: programs run as this user, with all its rights')
  const programs = lockPrograms(plan.cacheFolder)
  let tester: Tester | undefined
  try {
    tester = await openTester({
      sandbox,
      cores: availableParallelism(),
      cacheFolder: programs.folder,
      nodePath: process.execPath,
      ...plan.tools,
    })
    return await openWork(plan, ports, { sandbox, tester, log, release: programs.release })
  } catch (error) {
    await tester?.close()
    programs.release()
    throw error
  }
}

async function openWork(
  plan: JudgePlan,
  ports: JudgePorts,
  {
    sandbox,
    tester,
    log,
    release,
  }: {
    readonly sandbox: Sandbox
    readonly tester: Tester
    readonly log: ReturnType<typeof judgeLog>
    readonly release: () => void
  },
): Promise<OpenJudge> {
  const { machineId, slots, url, workFolder } = plan
  const { driver, tier, enforced, missing } = sandbox.report
  const facts = {
    version: ownVersion(),
    languages: tester.languages.map(({ language, version }) => ({ language, version })),
    sandbox: { driver, tier, enforced: { ...enforced }, missing: [...missing] },
    slots,
  }
  const worker = await openWorker({
    connect: connectJudge(plan),
    tester,
    machineId,
    facts,
    workFolder,
    tryLock,
    log,
    now: ports.now,
    random: ports.random,
    ...(ports.signal === undefined ? {} : { signal: ports.signal }),
  })
  const close = async (graceMs: number): Promise<void> => {
    await worker.stop(graceMs)
    await tester.close()
    release()
  }
  return { ready: { machine_id: machineId, url, slots, languages: facts.languages, sandbox: facts.sandbox }, close }
}

/** The first folder for compiled programs that no other judge uses. */
function lockPrograms(cacheFolder: string): { readonly folder: string; readonly release: () => void } {
  mkdirSync(cacheFolder, { recursive: true, mode: 0o700 })
  for (let index = 1; index <= JUDGES_MAX; index += 1) {
    const folder = join(cacheFolder, `judge-${index}`)
    const lock = tryLock(`${folder}.lock`)
    if (lock !== undefined) return { folder, release: () => lock.release() }
  }
  throw new CommandError('too_many_judges', `${JUDGES_MAX} judges of this user run already`, {
    hint: 'raise --slots of one of them',
  })
}

const tryLock: TryLock = (path) => {
  try {
    return lockFile(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'locked') return undefined
    throw error
  }
}
