import type { ResourceSpec } from '@parley/protocol'
import type { GatewayCaller } from '../caller.ts'
import type { ToolWorld } from '../tool/served-tool.ts'

/** Who asks, and what stood in the URI where the template has its variable. */
export interface ResourceRequest<World = ToolWorld> {
  readonly caller: GatewayCaller
  readonly world: World
  /** Empty for a resource without a variable. */
  readonly id: string
  /** What stood for the second variable; empty where there is none. */
  readonly part: string
}

/**
 * A resource that works: its declaration, what reading it gives, and what says that it changed. Both throw `ToolError`
 * `not_found` for what is not there, or not this caller's.
 */
export interface ServedResource<in World = ToolWorld> {
  readonly spec: ResourceSpec
  /** A string is the text itself; anything else is written as JSON. */
  read(request: ResourceRequest<World>): string | object | Promise<string | object>
  watch(request: ResourceRequest<World>, changed: () => void): (() => void) | Promise<() => void>
}

/** Entries in a list that is read as a resource; the rest is behind `next_cursor`, by the tool of the same name. */
export const LISTED_MAX = 500

/** Watches topics of the store as one. */
export function watchTopics({ world }: ResourceRequest, topics: readonly string[], changed: () => void): () => void {
  const ends = topics.map((topic) => world.store.topics.subscribe(topic, changed))
  return () => {
    for (const end of ends) end()
  }
}
