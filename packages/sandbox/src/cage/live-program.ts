import { checkRequest } from '../check-request.ts'
import type { LiveProgram, LiveRequest, RunOutcome } from '../sandbox.ts'
import { CageBox } from './cage-box.ts'
import { type CageStart, startCage } from './cage-process.ts'

const NO_CAPTURE = { stdout: 0, stderr: 0 }

/** Starts a program whose streams are ours, in a box of its own that goes with it. */
export async function startLive(start: CageStart, request: LiveRequest, signal?: AbortSignal): Promise<LiveProgram> {
  checkRequest(request)
  const { helper, ground } = await startCage({ ...start, isLive: true })
  const box = new CageBox(helper, ground)
  const killing = new AbortController()
  const { stdin, stdout, stderr } = helper.streams
  // Each of the three goes both ways; who waits for the end of one must not wait for a way that nobody uses.
  stdin.resume()
  stdout.end()
  stderr.end()
  // A program that ended does not read: how it ended is what counts.
  for (const stream of [stdin, stdout, stderr]) stream.on('error', () => undefined)
  const run = async (): Promise<RunOutcome> => {
    try {
      const either = signal === undefined ? killing.signal : AbortSignal.any([signal, killing.signal])
      return await box.run({ ...request, captureBytes: NO_CAPTURE }, either)
    } finally {
      await box.close()
      stdin.destroy()
    }
  }
  return { pid: helper.pid, stdin, stdout, stderr, ended: run(), kill: () => killing.abort() }
}
