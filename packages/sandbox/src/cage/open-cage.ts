import { chmod, mkdir } from 'node:fs/promises'
import {
  type Box,
  type BoxProfile,
  type InteractOutcome,
  type InteractRequest,
  type Sandbox,
  type SandboxOptions,
  type SandboxReport,
  type StartLive,
  SandboxUnavailable,
} from '../sandbox.ts'
import { CageBox } from './cage-box.ts'
import { type CageStart, startCage, type Tier } from './cage-process.ts'
import { checkWorkspace } from './check-workspace.ts'
import { compileHelper } from './compile-helper.ts'
import { interactInCages } from './interact.ts'
import { startLive } from './live-program.ts'
import { selfCheck } from './self-check.ts'
import { type WorkspaceProfile, hiddenInSight, settleWorkspace } from '../workspace/settle-profile.ts'

const AS_ROOT: readonly Tier[] = ['root', 'user-namespaces', 'landlock']
const AS_USER: readonly Tier[] = ['user-namespaces', 'landlock']
const ALLOW_HINT = 'run as root, or allow user namespaces (sysctl user.max_user_namespaces), or a kernel with Landlock'

/** The sandbox of our own helper, in the strongest tier that passes its check on this machine. */
export async function openCage(options: SandboxOptions): Promise<Sandbox> {
  if (process.platform !== 'linux') throw new SandboxUnavailable('the sandbox helper needs Linux', 'use Linux, or a container')
  const binary = await compileHelper(options.cacheFolder)
  await mkdir(options.runFolder, { recursive: true, mode: 0o700 })
  const root = process.getuid?.() === 0
  const tiers = options.tier === undefined ? (root ? AS_ROOT : AS_USER) : [options.tier]
  const problems: string[] = []
  for (const tier of tiers) {
    // Without namespaces a program of another user has to walk down to its box.
    if (root && tier === 'landlock') await chmod(options.runFolder, 0o711)
    const found = await tryTier(binary, options.runFolder, tier)
    if (found.kind === 'holds') {
      const unheld = await checkWorkspace({ binary, runFolder: options.runFolder, tier })
      return new Cage({ binary, runFolder: options.runFolder, tier }, withWorkspace(found.report, unheld), unheld)
    }
    problems.push(`${tier}: ${found.why}`)
  }
  throw new SandboxUnavailable(`no tier of the sandbox holds on this machine (${problems.join('; ')})`, ALLOW_HINT)
}

async function tryTier(binary: string, runFolder: string, tier: Tier): Promise<Awaited<ReturnType<typeof selfCheck>>> {
  try {
    const { helper, ground } = await startCage({ binary, runFolder, tier, profile: { kind: 'judge' } })
    await using box = new CageBox(helper, ground)
    return await selfCheck(box, ground, binary)
  } catch (error) {
    if (error instanceof SandboxUnavailable) return { kind: 'broken', why: error.message }
    throw error
  }
}

const WORKSPACE =
  'an allow-list: of the machine the system’s folders, the working folder and what is named; no sockets of the host, .git read-only'

function withWorkspace(report: SandboxReport, unheld: string | undefined): SandboxReport {
  if (unheld === undefined) return { ...report, enforced: { ...report.enforced, workspace: WORKSPACE } }
  return { ...report, missing: [...report.missing, `engines run no commands here, since ${unheld}`] }
}

class Cage implements Sandbox {
  readonly report: SandboxReport
  readonly unheldWorkspace?: string
  readonly start?: StartLive
  readonly #parts: Omit<CageStart, 'profile'>

  constructor(parts: Omit<CageStart, 'profile'>, report: SandboxReport, unheld: string | undefined) {
    this.#parts = parts
    this.report = report
    if (unheld !== undefined) this.unheldWorkspace = unheld
    if (parts.tier !== 'landlock')
      this.start = async (profile, request, signal) => startLive(this.#startOf(profile), request, signal)
  }

  async openBox(profile: BoxProfile): Promise<Box> {
    const { helper, ground } = await startCage(this.#startOf(profile))
    return new CageBox(helper, ground)
  }

  #startOf(profile: BoxProfile): CageStart {
    if (profile.kind === 'workspace') this.#checkProfile(profile)
    return { ...this.#parts, profile }
  }

  #checkProfile(profile: WorkspaceProfile): void {
    if (profile.writable && this.unheldWorkspace !== undefined) throw new SandboxUnavailable(this.unheldWorkspace, ALLOW_HINT)
    if (this.#parts.tier !== 'landlock') return
    if (typeof profile.network === 'object')
      throw new SandboxUnavailable('this tier has no network of its own to let one thing through', ALLOW_HINT)
    // Its own folder is in reach of a box, and the folders of other boxes are beside it.
    const hidden = hiddenInSight(settleWorkspace({ ...profile, hidden: [...(profile.hidden ?? []), this.#parts.runFolder] }))
    if (hidden !== undefined)
      throw new SandboxUnavailable(`${hidden} lies in a folder that is shown, and this tier cannot hide it`, ALLOW_HINT)
  }

  interact(program: Box, interactor: Box, request: InteractRequest, signal?: AbortSignal): Promise<InteractOutcome> {
    if (!(program instanceof CageBox) || !(interactor instanceof CageBox) || program === interactor) {
      throw new TypeError('interact needs two different boxes of this sandbox')
    }
    return interactInCages({ program, interactor }, request, this.#parts.runFolder, signal)
  }
}
