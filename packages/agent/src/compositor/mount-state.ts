import type { Moves } from '@parley/protocol'

/**
 * Where a mount stands.
 *
 * - `pending`: attached, and nobody has needed it yet.
 * - `starting`: being connected for the first time.
 * - `active`: connected.
 * - `failed`: the last try failed or the connection was lost; the next try comes after a wait.
 * - `restarting`: being connected again.
 * - `closed`: detached, or the compositor was closed. For good.
 */
export type MountState = 'pending' | 'starting' | 'active' | 'failed' | 'restarting' | 'closed'

export const MOUNT_MOVES: Moves<MountState> = {
  pending: ['starting', 'closed'],
  starting: ['active', 'failed', 'closed'],
  active: ['failed', 'closed'],
  failed: ['restarting', 'closed'],
  restarting: ['active', 'failed', 'closed'],
  closed: [],
}

/** Something of a mount that clients do not see, and why. */
export interface LeftOut {
  readonly kind: 'tool' | 'prompt' | 'resource' | 'template'
  readonly name: string
  readonly why: string
}

/** What is told about a mount: to the host, and to clients as `compositor://{mount}/state`. */
export interface MountStatus {
  readonly name: string
  readonly plain: boolean
  readonly state: MountState
  /** When it came into that state. */
  readonly since: string
  readonly server: { readonly name: string; readonly version: string } | null
  readonly era: string | null
  /** How often it was started again. */
  readonly restarts: number
  readonly last_error: string | null
  /** The tools as they are shown, as far as they are known. */
  readonly tools: readonly string[]
  readonly left_out: readonly LeftOut[]
  /** What else is wrong: lists that did not come, or were cut. */
  readonly problems: readonly string[]
}
