import { WireError } from '@parley/fetch/browser'
import { type JsonObject, type JsonValue, TOOLS, type ToolName, isJsonObject } from '@parley/protocol'
import type { HeaderParam } from '../../service.ts'
import { readMirroring } from './mirrored-headers.ts'

/** Fetches every page of a list. An empty string is a cursor too; only its absence ends the list. */
export async function allPages(
  key: string,
  pages: number,
  fetch: (params: JsonObject) => Promise<JsonObject>,
): Promise<JsonObject[]> {
  const items: JsonObject[] = []
  let cursor: JsonValue | undefined
  for (let page = 0; page < pages; page++) {
    const result = await fetch(typeof cursor === 'string' ? { cursor } : {})
    const found = result[key]
    if (!Array.isArray(found)) throw new WireError('bad_message', `the list has no ${key}`)
    items.push(...found.filter(isJsonObject))
    cursor = result.nextCursor
    if (typeof cursor !== 'string') return items
  }
  throw new WireError('bad_message', `the list of ${key} has more than ${pages} pages`)
}

/** Whether it is a tool that `protocol` declares. */
export function isToolName(name: string): name is ToolName {
  return Object.hasOwn(TOOLS, name)
}

/** Which arguments of which tool modern HTTP repeats as headers, as far as the tools were listed. */
export class ToolHeaders {
  readonly #byTool = new Map<string, readonly HeaderParam[]>()
  #known = false

  /** Whether the tools were listed. */
  get known(): boolean {
    return this.#known
  }

  /** Whether it is known what a tool wants: from the list, or because `protocol` declares it, and then it wants no headers. */
  knows(tool: JsonValue | undefined): boolean {
    return this.#known || (typeof tool === 'string' && isToolName(tool))
  }

  forget(): void {
    this.#known = false
  }

  of(tool: JsonValue | undefined): readonly HeaderParam[] {
    return (typeof tool === 'string' ? this.#byTool.get(tool) : undefined) ?? []
  }

  /** Learns from a whole list, and leaves out the tools whose wishes are against the rules. */
  learn(tools: readonly JsonObject[], warn: (message: string) => void): JsonObject[] {
    this.#byTool.clear()
    this.#known = true
    return tools.filter((tool) => {
      const mirroring = readMirroring(tool.inputSchema)
      if (mirroring.kind === 'invalid') {
        warn(`left out the tool ${JSON.stringify(tool.name)}: ${mirroring.why}`)
        return false
      }
      if (typeof tool.name === 'string' && mirroring.arguments.length > 0) this.#byTool.set(tool.name, mirroring.arguments)
      return true
    })
  }
}
