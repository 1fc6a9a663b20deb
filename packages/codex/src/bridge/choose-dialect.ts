import { BackendError } from '../port/backend-error.ts'
import { servesOf, supportOf } from '@parley/contracts/version'
import type { Dialect } from './dialect.ts'

export type DialectName = Dialect['name']

const ALL: readonly DialectName[] = ['v2', 'v1', 'mcp']

/** Which dialects to try, one after the other, and what to say about it. */
export interface DialectChoice {
  readonly tries: readonly DialectName[]
  readonly warning: string | null
}

/** Chosen by version; one that nobody knows is asked what it speaks, the newest first. Throws `BackendError` for one that is too old. */
export function chooseDialect(version: string | undefined): DialectChoice {
  if (version === undefined) return { tries: ALL, warning: null }
  const support = supportOf(version)
  switch (support.kind) {
    case 'unreadable':
      return { tries: ALL, warning: `${support.message}; it is asked what it speaks` }
    case 'too-old':
      throw new BackendError('unsupported', support.message, { data: { currentVersion: support.version.text } })
    case 'supported': {
      const spoken = servesOf(support.version)?.bridge
      return { tries: spoken === undefined ? ALL : [spoken], warning: support.known ? null : support.note }
    }
  }
}

/** Only the dialect that is spoken is loaded. */
export async function loadDialect(name: DialectName): Promise<Dialect> {
  switch (name) {
    case 'v2':
      return (await import('./v2/index.ts')).currentDialect
    case 'v1':
      return (await import('./v1/index.ts')).olderDialect
    case 'mcp':
      return (await import('./mcp/index.ts')).mcpDialect
  }
}
