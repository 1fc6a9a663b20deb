import type { Compositor } from '@parley/agent'
import { type AgentClaim, type HeldMount, messageOf, type MountSignIn, type ToolOutput } from '@parley/protocol'
import type { ClientTransport } from '@parley/rpc'
import { composedMount } from './composed-mount.ts'
import type { GatewayCall } from './gateway-calls.ts'
import { maskTexts, secretsOf } from './mount/masked-secrets.ts'
import { mountReport } from './mount/mount-report.ts'
import type { ReachMount } from './mount/reach-mount.ts'

/** Several changes of mounts that come together are told as one. */
const REPORT_MS = 100

type Spec = Pick<ToolOutput<'host.agent_get'>, 'name' | 'owner' | 'mounts' | 'private_http'>

export interface HeldMountsOptions {
  readonly claim: AgentClaim
  readonly call: GatewayCall
  readonly reachMount: ReachMount
  readonly log: (level: 'info' | 'warn', message: string) => void
  /** Aborts when the agent is not held any more. */
  readonly signal: AbortSignal
  /** What the gateway has of the agent now. */
  readonly spec: () => Spec
}

/** A mount that the compositor has, and what allowed it. */
interface Shown {
  readonly mount: HeldMount
  readonly privateHttp: boolean
}

/** The mounts of an agent that is held: kept as the gateway has them, and told to it. */
export class HeldMounts {
  readonly #options: HeldMountsOptions
  readonly #shown = new Map<string, Shown>()
  #compositor: Compositor | undefined
  #reporting: NodeJS.Timeout | undefined
  #isClosing = false

  constructor(options: HeldMountsOptions) {
    this.#options = options
  }

  /** Mounts what there is, and goes on telling what becomes of it. */
  async show(compositor: Compositor): Promise<void> {
    this.#compositor = compositor
    compositor.watchMounts(() => this.#report())
    await this.converge()
  }

  versionOf(name: string): number | null {
    return this.#shown.get(name)?.mount.version ?? null
  }

  /** What is told of mounts, and of calls of them, without what they were given in secret. */
  readonly masked = (words: string): string =>
    maskTexts([...this.#shown.values()].flatMap(({ mount }) => [...secretsOf(mount), ...tokensOf(mount)]))(words)

  /** Mounts what is new, takes off what is gone, and replaces what was attached again or is not allowed as it was. */
  async converge(): Promise<void> {
    const compositor = this.#compositor
    if (compositor === undefined) return
    const { mounts, private_http: privateHttp } = this.#options.spec()
    const wanted = new Map(mounts.map((mount) => [mount.name, mount]))
    for (const [name, shown] of this.#shown) {
      const mount = wanted.get(name)
      if (mount !== undefined && isStill(shown, { mount, privateHttp })) {
        // What is allowed anew counts from the next connection on.
        this.#shown.set(name, { mount: shown.mount, privateHttp })
        continue
      }
      this.#shown.delete(name)
      await compositor.detach(name)
    }
    for (const [name, mount] of wanted) {
      if (this.#shown.has(name)) continue
      this.#shown.set(name, { mount, privateHttp })
      compositor.attach(composedMount(mount))
    }
    this.#report()
  }

  /** By what the gateway last said is allowed; a mount that is allowed less is replaced. */
  async connect(name: string, signal: AbortSignal): Promise<ClientTransport> {
    const shown = this.#shown.get(name)
    if (shown === undefined) throw new Error(`${name} is not mounted any more`)
    const { mount, privateHttp } = shown
    if (mount.refused !== null) throw new Error(mount.refused)
    const { call, claim, reachMount, signal: ended, spec } = this.#options
    const keep = (renewed: HeldMount, sign_in: MountSignIn): Promise<unknown> =>
      call('host.mount_renewed', { ...claim, name: renewed.name, version: renewed.version, sign_in }, ended)
    const { name: agentName, owner } = spec()
    return reachMount({ claim, name: agentName, owner, privateHttp, keep }, mount, signal)
  }

  /** Nothing is told from now on. */
  close(): void {
    this.#isClosing = true
    clearTimeout(this.#reporting)
  }

  #report(): void {
    if (this.#isClosing) return
    this.#reporting ??= setTimeout(() => void this.#tell(), REPORT_MS)
  }

  async #tell(): Promise<void> {
    this.#reporting = undefined
    const { call, claim, log, signal } = this.#options
    const mounts = (this.#compositor?.mounts() ?? []).map(mountReport)
    try {
      await call('host.agent_report', { ...claim, mounts }, signal)
    } catch (error) {
      if (!signal.aborted) log('warn', `its mounts cannot be told: ${messageOf(error)}`)
    }
  }
}

const tokensOf = ({ sign_in: signIn }: HeldMount): readonly string[] =>
  signIn === null ? [] : [signIn.access_token, signIn.refresh_token, signIn.client_secret].filter((token) => token !== null)

/** Whether a mount is the same, and allowed what it was: a way that was opened under a grant goes when that is taken back. */
function isStill({ mount, privateHttp }: Shown, now: Shown): boolean {
  if (now.mount.version !== mount.version || now.mount.refused !== mount.refused) return false
  return mount.server.kind === 'http' ? now.privateHttp || !privateHttp : now.mount.folder_granted === mount.folder_granted
}
