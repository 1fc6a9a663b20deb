import type { Caller, Service } from '@parley/rpc'
import { DEFAULT_COMPOSITOR_LIMITS } from './compositor-limits.ts'
import { CompositorService } from './compositor-service.ts'
import type { MountOptions } from './mount-options.ts'
import type { MountStatus } from './mount-state.ts'
import { MountSet } from './mount-set.ts'
import type { CompositorOptions } from './ports.ts'

/** Many MCP servers as one service, for any number of clients of either era. */
export interface Compositor<C extends Caller = Caller> extends Service<C> {
  /** Throws `InvalidArgument` when it cannot be mounted like this. It starts when it is first needed, unless it is eager. */
  attach(options: MountOptions): void
  /** False when there was none. Calls under way fail, and are not sent again. */
  detach(name: string): Promise<boolean>
  mounts(): readonly MountStatus[]
  /** The gate may decide otherwise from now on: what is watched is decided about again, without asking anybody. Never rejects. */
  reconsider(): Promise<void>
  /** Tells when something about a mount is different; the answer ends it. */
  watchMounts(changed: (name: string) => void): () => void
  close(): Promise<void>
}

/** Opens a compositor without a mount, which knows the agent's own subscriptions. */
export async function openCompositor<C extends Caller = Caller>(options: CompositorOptions<C>): Promise<Compositor<C>> {
  const limits = { ...DEFAULT_COMPOSITOR_LIMITS, ...options.limits }
  const mounts = new MountSet<C>(options, limits)
  await mounts.subscriptions.restore()
  return new CompositorService<C>(options, mounts, limits)
}
