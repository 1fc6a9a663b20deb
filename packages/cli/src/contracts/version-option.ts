import { type Basis, basisOf } from '@parley/contracts'
import { supportOf } from '@parley/contracts/version'
import { usageError } from '@parley/command-line'

/** The recorded version for one that somebody named. Throws a usage error. */
export function basisFor(text: string): Basis {
  const support = supportOf(text)
  const basis = support.kind === 'supported' ? basisOf(support.version) : undefined
  if (basis !== undefined) return basis
  throw usageError(support.kind === 'supported' ? `nothing is known of Codex ${text}` : support.message)
}
