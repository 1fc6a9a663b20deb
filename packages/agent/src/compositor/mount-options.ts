import type { JsonObject } from '@parley/protocol'
import type { Era } from '@parley/rpc'

/** A folder that a server is told it may work in. */
export interface Root {
  readonly uri: string
  readonly name?: string
}

/** Which tools of a mount are shown, by the names that its server gives them. */
export interface ToolChoice {
  /** Left out: all. */
  readonly only?: readonly string[]
  readonly without?: readonly string[]
  /** The server's name, and the name to show instead. */
  readonly renamed?: Readonly<Record<string, string>>
  /** Shown even where a list is only to have what is marked. */
  readonly marked?: readonly string[]
}

/** Which resources or prompts of a mount are shown; one that ends with `*` means all that begin so. */
export interface ShownChoice {
  /** Left out: all. */
  readonly only?: readonly string[]
  readonly without?: readonly string[]
}

/**
 * How a mount is shown and what it may ask. Nothing in here is secret: where the server is, and with which keys it is reached,
 * is the business of whoever connects.
 */
export interface MountOptions {
  /** `[a-z][a-z0-9-]*`: clients see `{name}_{tool}`. */
  readonly name: string
  /** Its names and URIs are shown as they are. One mount at most. */
  readonly plain?: boolean
  /** Starts when it is attached. Left out: when it is first needed. */
  readonly eager?: boolean
  /** The era that is spoken with it. Left out: modern where it can. */
  readonly era?: Era
  /** How long one call may take, `callMs` of the compositor at most. Left out: that. */
  readonly callTimeoutMs?: number
  readonly tools?: ToolChoice
  readonly resources?: ShownChoice
  readonly prompts?: ShownChoice
  /** What it may ask the clients whose calls it serves. Left out: the person, and not their model. */
  readonly questions?: { readonly elicitation?: boolean; readonly sampling?: boolean }
  /** What it is told when it asks for roots. Left out: none. `client`: those of whoever calls. */
  readonly roots?: readonly Root[] | 'client'
}

const ELICITATION: JsonObject = { form: {}, url: {} }
const SAMPLING: JsonObject = { tools: {} }

export function mayElicit({ questions }: MountOptions): boolean {
  return questions?.elicitation !== false
}
export function maySample({ questions }: MountOptions): boolean {
  return questions?.sampling === true
}

/** What a legacy server is told that it can ask, once and for whoever calls later. */
export function declaredTo(options: MountOptions): JsonObject {
  return {
    ...(mayElicit(options) ? { elicitation: ELICITATION } : {}),
    ...(maySample(options) ? { sampling: SAMPLING } : {}),
    ...(options.roots === undefined ? {} : { roots: {} }),
  }
}

/** What a modern server is told with the call of one client: no more than that client declared, and than the mount may ask. */
export function declaredFor(options: MountOptions, { elicitation, sampling, roots }: JsonObject): JsonObject {
  return {
    ...(mayElicit(options) && elicitation !== undefined ? { elicitation } : {}),
    ...(maySample(options) && sampling !== undefined ? { sampling } : {}),
    ...(options.roots === 'client' ? (roots === undefined ? {} : { roots }) : options.roots === undefined ? {} : { roots: {} }),
  }
}

/** The answer to `roots/list` that is the compositor's own to give; `undefined` where the client is asked. */
export function ownRoots({ roots = [] }: MountOptions): JsonObject | undefined {
  return roots === 'client' ? undefined : { roots: roots.map((root) => ({ ...root })) }
}
