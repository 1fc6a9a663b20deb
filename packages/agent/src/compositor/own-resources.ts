import type { JsonObject } from '@parley/protocol'
import type { MountStatus } from './mount-state.ts'

export const MOUNTS_URI = 'compositor://mounts'
export const SUBSCRIPTIONS_URI = 'compositor://subscriptions'
const STATE_URI = /^compositor:\/\/([a-z][a-z0-9-]*)\/state$/
const MIME_TYPE = 'application/json'

export const stateUri = (mount: string): string => `compositor://${mount}/state`

export interface OwnResourcesParts {
  readonly names: () => readonly string[]
  readonly status: (mount: string) => MountStatus | undefined
  readonly subscriptions: () => JsonObject
}

/** What the compositor tells about itself. Not gated: it names what this agent has, and nothing that a mount keeps. */
export class OwnResources {
  readonly #parts: OwnResourcesParts
  readonly #watchers = new Map<string, Set<() => void>>()

  constructor(parts: OwnResourcesParts) {
    this.#parts = parts
  }

  /** Whether it is one of ours. The state of a mount is while there is such a mount. */
  has(uri: string): boolean {
    if (uri === MOUNTS_URI || uri === SUBSCRIPTIONS_URI) return true
    const mount = STATE_URI.exec(uri)?.[1]
    return mount !== undefined && this.#parts.names().includes(mount)
  }

  list(): readonly JsonObject[] {
    return [
      { uri: MOUNTS_URI, name: 'mounts', description: 'Every mount and how it stands', mimeType: MIME_TYPE },
      {
        uri: SUBSCRIPTIONS_URI,
        name: 'subscriptions',
        description: 'What the agent is told of when it changes',
        mimeType: MIME_TYPE,
      },
      ...this.#parts.names().map((name) => ({
        uri: stateUri(name),
        name: `state of ${name}`,
        description: 'Its tools, what was left out and why, and its last error',
        mimeType: MIME_TYPE,
      })),
    ]
  }

  read(uri: string): JsonObject | undefined {
    const text = this.#text(uri)
    return text === undefined ? undefined : { contents: [{ uri, mimeType: MIME_TYPE, text }] }
  }

  watch(uri: string, changed: () => void): () => void {
    const watcher = (): void => changed()
    const watchers = this.#watchers.get(uri) ?? new Set()
    this.#watchers.set(uri, watchers.add(watcher))
    return () => {
      watchers.delete(watcher)
      if (watchers.size === 0 && this.#watchers.get(uri) === watchers) this.#watchers.delete(uri)
    }
  }

  changed(uri: string): void {
    for (const watcher of this.#watchers.get(uri) ?? []) watcher()
  }

  #text(uri: string): string | undefined {
    if (uri === SUBSCRIPTIONS_URI) return JSON.stringify(this.#parts.subscriptions())
    if (uri === MOUNTS_URI)
      return JSON.stringify({
        mounts: this.#parts
          .names()
          .flatMap((name) => this.#parts.status(name) ?? [])
          .map(short),
      })
    const mount = STATE_URI.exec(uri)?.[1]
    const status = mount === undefined ? undefined : this.#parts.status(mount)
    return status === undefined ? undefined : JSON.stringify(status)
  }
}

function short({ name, plain, state, since, last_error }: MountStatus): JsonObject {
  return { name, plain, state, since, last_error }
}
