import { isJsonObject, type JsonObject, keptText } from '@parley/protocol'
import type { LeftOut } from '../mount-state.ts'
import type { MountOptions, ShownChoice } from '../mount-options.ts'
import { shownName, toolNameFault } from './mount-name.ts'
import { showUri } from './shown-uri.ts'

export interface ShownList {
  readonly items: readonly JsonObject[]
  readonly leftOut: readonly LeftOut[]
}

/** Which names and URIs a mount may not show, because they are somebody else's; `undefined`: nobody's. */
export interface TakenNames {
  /** Of a plain mount. */
  name(shown: string): string | undefined
  uri(shown: string): string | undefined
  /** Of any. */
  ownUri(shown: string): string | undefined
}

/** How the entries of one mount are shown. Pure: what is left out now may be shown when another mount is gone. */
export class MountView {
  readonly #options: MountOptions
  readonly #taken: TakenNames
  /** The names that are shown instead of those of the server, and the way back. A server's names may be any words. */
  readonly #instead: ReadonlyMap<string, string>
  readonly #renamed: ReadonlyMap<string, string>
  readonly #marked: ReadonlySet<string>

  constructor(options: MountOptions, taken: TakenNames) {
    this.#options = options
    this.#taken = taken
    const { renamed = {}, marked = [] } = options.tools ?? {}
    this.#instead = new Map(Object.entries(renamed))
    this.#renamed = new Map([...this.#instead].map(([own, shown]) => [shown, own]))
    this.#marked = new Set(marked.map((own) => this.#name(this.#instead.get(own) ?? own)))
  }

  /** The server's name of a tool, from what stands after the mount's; `undefined`: no such tool is shown. */
  toolNamed(name: string): string | undefined {
    const own = this.#renamed.get(name) ?? (this.#instead.has(name) ? undefined : name)
    return own === undefined || this.#unwanted(own) !== undefined ? undefined : own
  }

  /** Why a prompt, by the name that its server gives it, is not shown and not given; `undefined`: it is. */
  unwantedPrompt(own: string): string | undefined {
    return unwantedBy(this.#options.prompts, own)
  }
  /** The same for a resource or a template. */
  unwantedResource(own: string): string | undefined {
    return unwantedBy(this.#options.resources, own)
  }

  uri(uri: string): string | undefined {
    return this.#options.plain === true ? uri : showUri(this.#options.name, uri)
  }

  tools(tools: readonly JsonObject[]): ShownList {
    const seen = new Set<string>()
    return gather('tool', tools, 'name', (name) => {
      const unwanted = this.#unwanted(name)
      if (unwanted !== undefined) return { why: unwanted }
      const instead = this.#instead.get(name)
      if (instead === undefined && this.#renamed.has(name)) return { why: 'another tool is shown under its name' }
      const shown = this.#name(instead ?? name)
      const why =
        toolNameFault(shown) ?? this.#nameTaken(shown) ?? (seen.has(shown) ? 'the server has two of its name' : undefined)
      seen.add(shown)
      return why === undefined ? { shown } : { why }
    })
  }

  prompts(prompts: readonly JsonObject[]): ShownList {
    return gather('prompt', prompts, 'name', (name) => {
      const shown = this.#name(name)
      const why = this.unwantedPrompt(name) ?? this.#nameTaken(shown)
      return why === undefined ? { shown } : { why }
    })
  }

  resources(resources: readonly JsonObject[]): ShownList {
    return gather('resource', resources, 'uri', (uri) => this.#shownUri(uri, 'it has no scheme'))
  }

  templates(templates: readonly JsonObject[]): ShownList {
    return gather('template', templates, 'uriTemplate', (uri) => this.#shownUri(uri, 'its scheme is a variable'))
  }

  /** Whether a tool, by the name it is shown with, is shown even where only what is marked is. */
  isMarked(shown: unknown): boolean {
    return typeof shown === 'string' && this.#marked.has(shown)
  }

  #name(name: string): string {
    return this.#options.plain === true ? name : shownName(this.#options.name, name)
  }

  #nameTaken(shown: string): string | undefined {
    return this.#options.plain === true ? this.#taken.name(shown) : undefined
  }

  #shownUri(uri: string, withoutScheme: string): { readonly shown: string } | { readonly why: string } {
    const shown = this.uri(uri)
    if (shown === undefined) return { why: withoutScheme }
    const why =
      this.unwantedResource(uri) ??
      this.#taken.ownUri(shown) ??
      (this.#options.plain === true ? this.#taken.uri(shown) : undefined)
    return why === undefined ? { shown } : { why }
  }

  #unwanted(own: string): string | undefined {
    const { only, without } = this.#options.tools ?? {}
    if (only !== undefined && !only.includes(own)) return NOT_AMONG
    return without?.includes(own) === true ? NOT_TO_SHOW : undefined
  }
}

const NOT_AMONG = 'it is not among those that the mount is to show'
const NOT_TO_SHOW = 'the mount is not to show it'

function unwantedBy({ only, without = [] }: ShownChoice = {}, own: string): string | undefined {
  if (only !== undefined && !isMeant(only, own)) return NOT_AMONG
  return isMeant(without, own) ? NOT_TO_SHOW : undefined
}

const isMeant = (patterns: readonly string[], own: string): boolean =>
  patterns.some((pattern) => (pattern.endsWith('*') ? own.startsWith(pattern.slice(0, -1)) : own === pattern))

function gather(
  kind: LeftOut['kind'],
  entries: readonly JsonObject[],
  field: string,
  show: (value: string) => { readonly shown: string } | { readonly why: string },
): ShownList {
  const items: JsonObject[] = []
  const leftOut: LeftOut[] = []
  for (const entry of entries) {
    const value = entry[field]
    const seen = typeof value === 'string' ? show(value) : { why: `it has no ${field}` }
    if ('shown' in seen) items.push(seen.shown === value ? entry : { ...entry, [field]: seen.shown })
    else leftOut.push({ kind, name: typeof value === 'string' ? value : '', why: seen.why })
  }
  return { items, leftOut }
}

/** Of a name that is not shown, where it is told that it is not. */
const LEFT_OUT_CHARS = 256

/** What is told of what was left out: a server's names are as long as it likes. */
export const shownLeftOut = (all: readonly LeftOut[], most: number): readonly LeftOut[] =>
  all.slice(0, most).map((one) => ({ ...one, name: keptText(one.name, LEFT_OUT_CHARS) }))

/** The annotations of a tool as it was listed. */
export function annotationsOf(tool: JsonObject | undefined): JsonObject | undefined {
  return isJsonObject(tool?.annotations) ? tool.annotations : undefined
}
