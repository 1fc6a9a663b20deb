import { iso } from '@parley/protocol'
import type { Era } from '@parley/rpc'
import type { MountLists } from './list/mount-lists.ts'
import type { MountState, MountStatus } from './mount-state.ts'
import { type MountView, shownLeftOut } from './shown/shown-lists.ts'

interface Shown {
  readonly name: string
  readonly isPlain: boolean
  readonly lists: MountLists
  readonly view: MountView
}

interface Facts {
  readonly state: MountState
  /** Milliseconds since 1970. */
  readonly since: number
  readonly server: { readonly name: string; readonly version: string } | null
  readonly era: Era | null
  readonly restarts: number
  readonly lastError: string | undefined
  readonly leftOutShown: number
}

/** How a mount stands, as it is told. */
export function statusOf({ name, isPlain, lists, view }: Shown, facts: Facts): MountStatus {
  const tools = view.tools(lists.known('tools'))
  const leftOut = [
    ...tools.leftOut,
    ...view.prompts(lists.known('prompts')).leftOut,
    ...view.resources(lists.known('resources')).leftOut,
    ...view.templates(lists.known('templates')).leftOut,
  ]
  const { state, since, server, era, restarts, lastError, leftOutShown } = facts
  return {
    name,
    plain: isPlain,
    state,
    since: iso(since),
    server,
    era,
    restarts,
    last_error: lastError ?? null,
    tools: tools.items.flatMap(({ name: tool }) => (typeof tool === 'string' ? tool : [])),
    left_out: shownLeftOut(leftOut, leftOutShown),
    problems: lists.problems(),
  }
}
