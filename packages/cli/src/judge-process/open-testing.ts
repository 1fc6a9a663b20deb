import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { lockPrograms, openTester, type Tester, type TryLock } from '@parley/judge'
import { openSandbox, type Sandbox } from '@parley/sandbox'
import { lockFile } from '@parley/store'
import { CommandError } from '@parley/command-line'
import type { JudgePlan } from './plan.ts'

/** A sandbox and a tester in it, with a folder of compiled programs that nobody else uses. */
export interface Testing {
  readonly sandbox: Sandbox
  readonly tester: Tester
  close(): Promise<void>
}

/** Judges of one user on one machine; each keeps compiled programs of its own. */
const JUDGES_MAX = 64

/** Opens what programs are compiled and run in. */
export async function openTesting(
  plan: Pick<JudgePlan, 'sandbox' | 'cacheFolder' | 'workFolder' | 'tools'>,
  warn: (message: string) => void,
): Promise<Testing> {
  const sandbox = await openSandbox({
    driver: plan.sandbox,
    cacheFolder: join(plan.cacheFolder, 'sandbox'),
    runFolder: join(plan.workFolder, 'boxes'),
  })
  if (sandbox.report.driver === 'none') warn(`there is NO sandbox: ${sandbox.report.missing.join('; ')}`)
  const programs = lockPrograms(plan.cacheFolder, JUDGES_MAX, tryLock)
  if (programs === undefined)
    throw new CommandError('too_many_judges', `${JUDGES_MAX} judges of this user run already`, {
      hint: 'raise --slots of one of them',
    })
  try {
    const tester = await openTester({
      sandbox,
      cores: availableParallelism(),
      cacheFolder: programs.folder,
      nodePath: process.execPath,
      ...plan.tools,
    })
    const close = async (): Promise<void> => {
      await tester.close()
      programs.release()
    }
    return { sandbox, tester, close }
  } catch (error) {
    programs.release()
    throw error
  }
}

export const tryLock: TryLock = (path) => {
  try {
    return lockFile(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'locked') return undefined
    throw error
  }
}
