import { messageOf } from '@parley/protocol'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { canonicalJson } from './canonical.ts'
import { JsonRefused } from './json-limits.ts'
import type { PolicyCall } from './policy-call.ts'

export type CallDigest =
  | { readonly kind: 'digest'; readonly digest: string }
  /** It cannot be told from other calls, so nobody can approve exactly this one. */
  | { readonly kind: 'refused'; readonly reason: string }

type DigestedCall = Pick<PolicyCall, 'agent' | 'caller' | 'mount' | 'mountVersion' | 'kind' | 'name' | 'arguments'>

/** What an approval is bound to: the same for the same call, another for any other. */
export function digestCall({ agent, caller, mount, mountVersion, kind, name, arguments: args }: DigestedCall): CallDigest {
  try {
    const call = {
      agent: agent.id,
      caller: { role: caller.role, name: caller.name },
      mount,
      mount_version: mountVersion,
      kind,
      name,
      arguments: args,
    }
    return { kind: 'digest', digest: hashOf(canonicalJson(call)) }
  } catch (error) {
    if (error instanceof JsonRefused) return { kind: 'refused', reason: messageOf(error) }
    throw error
  }
}

/** SHA-256 of a text in UTF-8, in hexadecimal digits. */
export const hashOf = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)))
