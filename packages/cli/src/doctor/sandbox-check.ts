import { type Sandbox, SandboxUnavailable, openSandbox } from '@parley/sandbox'
import type { Io } from '@parley/command-line'
import { withScratch } from '../data/scratch.ts'
import { type DoctorCheck, reasonOf } from './doctor-check.ts'
import { checkLanguages } from './language-checks.ts'

const name = 'sandbox'

/** What holds programs on this machine, and which languages run in it. A machine without is fine until it is to judge. */
export async function checkJudging(io: Io): Promise<DoctorCheck[]> {
  if (process.platform !== 'linux') {
    const detail = 'programs can be judged safely on Linux only'
    return [{ name, status: 'missing', detail, hint: 'run parley judge on such a machine' }]
  }
  return withScratch(io, async ({ cacheFolder, runFolder }) => {
    let sandbox: Sandbox
    try {
      sandbox = await openSandbox({ driver: 'auto', cacheFolder, runFolder })
    } catch (error) {
      const hint = error instanceof SandboxUnavailable && error.hint !== '' ? error.hint : 'parley sandbox check says more'
      return [
        { name, status: 'missing', detail: `${reasonOf(error)}; no judge can run here`, hint },
        { name: 'languages', status: 'skipped', detail: 'they are asked inside the sandbox, and there is none' },
      ]
    }
    const { driver, tier, missing } = sandbox.report
    const holes = missing.length === 0 ? '' : `; not enforced: ${missing.join('; ')}`
    const held: DoctorCheck = { name, status: 'ok', detail: `${driver}, ${tier}${holes}` }
    const boxes = boxesOf(sandbox)
    try {
      return [held, boxes, ...(await checkLanguages(sandbox, io))]
    } catch (error) {
      const hint = 'parley sandbox run -- true says more'
      return [held, boxes, { name: 'languages', status: 'failed', detail: reasonOf(error), hint }]
    }
  })
}

/** Whether a host of this machine can run what agents mount. */
function boxesOf({ unheldWorkspace, start, report }: Sandbox): DoctorCheck {
  if (unheldWorkspace === undefined && start !== undefined)
    return { name: 'mounts', status: 'ok', detail: 'a host can box what agents mount' }
  const why = unheldWorkspace ?? `${report.driver} gives a program no network of its own`
  return {
    name: 'mounts',
    status: 'missing',
    detail: `nothing can be boxed for agents: ${why}`,
    hint: 'parley sandbox check says more',
  }
}
