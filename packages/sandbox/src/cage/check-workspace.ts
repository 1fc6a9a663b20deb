import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SandboxUnavailable } from '../sandbox.ts'
import { realPathOf } from '../workspace/real-path.ts'
import { CageBox } from './cage-box.ts'
import { type CageStart, startCage } from './cage-process.ts'
import { withListener } from './listener.ts'
import { PROBE_LIMITS } from './probe-limits.ts'

/** What the probe found open, as bits of its exit code. */
const SAW = {
  'a file beside the working folder': 1,
  'files of the host': 2,
  'a socket of the host': 4,
  'a way to write the repository': 8,
  'a way to write settings of the machine': 16,
  'a way to change a device of the host': 32,
  'a way to huge pages': 64,
  'a way to leave a setuid file or a device': 128,
} as const

/** Why the workspace profile does not hold in a tier, found out by a probe in a real box; undefined: it holds. */
export async function checkWorkspace(start: Omit<CageStart, 'profile'>): Promise<string | undefined> {
  if (start.tier === 'landlock')
    return 'the landlock tier grants whole folders and can take nothing out of them: needs user namespaces or root'
  const place = await mkdtemp(join(realPathOf(start.runFolder).path, 'check-'))
  const folder = join(place, 'work')
  try {
    await mkdir(folder)
    await writeFile(join(place, 'secret'), '')
    const found = await withListener(start.binary, folder, async ({ file, name }) => ({
      unheld: await probed({ ...start, profile: { kind: 'workspace', folder, writable: true } }, [
        join(place, 'secret'),
        file,
        name,
      ]),
    }))
    return found === undefined ? 'the probe of a working folder could not listen' : found.unheld
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}

async function probed(start: CageStart, words: readonly string[]): Promise<string | undefined> {
  // What is judged needs no working folder: a machine that cannot make one still has a judge.
  const started = await startCage(start).catch((error: unknown) => {
    if (error instanceof SandboxUnavailable) return error.message
    throw error
  })
  if (typeof started === 'string') return started
  const { helper, ground } = started
  await using box = new CageBox(helper, ground)
  const outcome = await box.run({
    argv: ['/box/probe', 'probe', 'work', ...words],
    files: [{ name: 'probe', from: { path: start.binary }, executable: true }],
    limits: PROBE_LIMITS,
  })
  const { exitCode } = outcome
  if (exitCode === null) return outcome.message ?? `the probe of a working folder ended as ${outcome.status}`
  const open = Object.entries(SAW).filter(([, bit]) => (exitCode & bit) !== 0)
  return open.length === 0 ? undefined : `in a working folder, the probe saw ${open.map(([what]) => what).join(', ')}`
}
