import { isJsonObject, type JsonObject } from '@parley/protocol'
import { type Caller, type Era, withoutInvalidTools } from '@parley/rpc'
import type { Listed } from './list/fetch-list.ts'
import type { MountTable } from './mount-table.ts'
import type { MountedServer } from './mounted-server.ts'

/** An entry of a list as clients see it, and whose it is. */
export interface Catalogued {
  readonly mount: string
  readonly item: JsonObject
  /** A tool that is shown even where only what is marked is. */
  readonly isMarked: boolean
}

/** What all mounts list, together. They are asked at the same time, and none is waited for longer than a list may take. */
export class Catalogue<C extends Caller> {
  readonly #table: MountTable<C>

  constructor(table: MountTable<C>) {
    this.#table = table
  }

  async list(kind: Listed, era: Era): Promise<readonly Catalogued[]> {
    const lists = await Promise.all(this.#table.all.map((mount) => this.#ofMount(mount, kind, era)))
    return lists.flat()
  }

  async #ofMount(mount: MountedServer<C>, kind: Listed, era: Era): Promise<readonly Catalogued[]> {
    const items = await mount.lists.get(kind)
    return kind === 'tools' ? toolsOf(mount, items, era) : entriesOf(mount, mount.view[kind](items).items)
  }
}

/** Some tools cannot be shown in every era as their server describes them. */
function toolsOf<C extends Caller>(mount: MountedServer<C>, tools: readonly JsonObject[], era: Era): readonly Catalogued[] {
  const { log, wrapping } = mount.forwarding
  const listed = { tools: [...tools] }
  const suited = era === 'modern' ? withoutInvalidTools(listed, log) : wrapping.list(listed)
  const kept = Array.isArray(suited.tools) ? suited.tools.filter(isJsonObject) : []
  return mount.view.tools(kept).items.map((item) => ({ mount: mount.name, item, isMarked: mount.view.isMarked(item.name) }))
}

function entriesOf<C extends Caller>(mount: MountedServer<C>, items: readonly JsonObject[]): readonly Catalogued[] {
  return items.map((item) => ({ mount: mount.name, item, isMarked: false }))
}
