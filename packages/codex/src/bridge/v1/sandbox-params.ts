import type { JsonObject } from '@parley/protocol'
import { isWithin, parseVersion } from '@parley/contracts/version'
import type { SandboxPolicy } from '../../port/order.ts'

/** What the mode of a sandbox policy is called on the wire. */
export type SandboxTag = 'mode' | 'type'

/** Measured: 0.58 reads `mode` alone, 0.59 `type` alone. */
const TYPE_SINCE = '0.59.0'

/** By the version that runs, or what it calls itself. One that nobody can read is taken for a new one. */
export function sandboxTag(version: string): SandboxTag {
  const known = parseVersion(version)
  return known === undefined || isWithin(known, TYPE_SINCE, null) ? 'type' : 'mode'
}

/** A sandbox policy as the versions up to 0.107 read it in `sendUserTurn` and `execOneOffCommand`. */
export function sandboxParams(policy: SandboxPolicy, tag: SandboxTag): JsonObject {
  if (policy.mode !== 'workspace-write') return { [tag]: policy.mode }
  return {
    [tag]: policy.mode,
    writable_roots: [...(policy.writableRoots ?? [])],
    network_access: policy.networkAccess ?? false,
    exclude_tmpdir_env_var: policy.excludeTmpdirEnvVar ?? false,
    exclude_slash_tmp: policy.excludeSlashTmp ?? false,
  }
}
