import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { failedOutcome } from '../defaults.ts'
import type { InteractOutcome, InteractRequest, RunOutcome } from '../sandbox.ts'
import type { CageBox } from './cage-box.ts'

const STEP = { make: 0, open: 1, settle: 2, drop: 3 } as const

/** Runs two programs whose streams are joined by two pipes. Each helper counts and limits what its own program says. */
export async function interactInCages(
  boxes: { readonly program: CageBox; readonly interactor: CageBox },
  request: InteractRequest,
  runFolder: string,
  signal?: AbortSignal,
): Promise<InteractOutcome> {
  const name = join(runFolder, `join-${randomBytes(8).toString('hex')}`)
  const toProgram = `${name}-to-program`
  const toInteractor = `${name}-to-interactor`
  // The maker holds both pipes until the other has its ends; then they lose their names.
  const joined =
    (await boxes.program.join(STEP.make, toProgram, toInteractor)) &&
    (await boxes.interactor.join(STEP.open, toInteractor, toProgram)) &&
    (await boxes.program.join(STEP.settle, toProgram, toInteractor))
  if (!joined) {
    await Promise.all([
      boxes.program.join(STEP.drop, toProgram, toInteractor),
      boxes.interactor.join(STEP.drop, toInteractor, toProgram),
    ])
    const failed: RunOutcome = failedOutcome('the two boxes cannot be joined')
    return { program: failed, interactor: failed, endedFirst: 'program' }
  }
  const captureBytes = { stdout: 0, stderr: request.captureBytes }
  const [program, interactor] = await Promise.all([
    boxes.program.runTimed({ ...request.program, captureBytes }, 'joined', signal),
    boxes.interactor.runTimed({ ...request.interactor, captureBytes }, 'steady', signal),
  ])
  return {
    program: program.outcome,
    interactor: interactor.outcome,
    endedFirst: program.endedAtNs <= interactor.endedAtNs ? 'program' : 'interactor',
  }
}
