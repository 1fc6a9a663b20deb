import * as z from 'zod'
import { SandboxMode, type SandboxPolicy } from '@parley/codex/port'
import type { Notes } from '../notes.ts'

/** In Codex's words an object; the documents declare its mode alone, as text. */
export const WireSandboxPolicy = z.preprocess(
  (value) => (typeof value === 'string' ? { mode: value, declared: true } : value),
  z.object({
    mode: SandboxMode,
    writable_roots: z.array(z.string()).nullish(),
    network_access: z.boolean().nullish(),
    exclude_tmpdir_env_var: z.boolean().nullish(),
    exclude_slash_tmp: z.boolean().nullish(),
    declared: z.literal(true).optional(),
  }),
)
type WireSandboxPolicy = z.output<typeof WireSandboxPolicy>

export function readSandboxPolicy(wire: WireSandboxPolicy, notes: Notes): SandboxPolicy {
  const { mode, declared } = wire
  if (declared) notes.once('sandboxPolicy text', `sandboxPolicy as text is taken for {mode: "${mode}"}`)
  return {
    mode,
    ...(wire.writable_roots ? { writableRoots: wire.writable_roots } : {}),
    ...(typeof wire.network_access === 'boolean' ? { networkAccess: wire.network_access } : {}),
    ...(typeof wire.exclude_tmpdir_env_var === 'boolean' ? { excludeTmpdirEnvVar: wire.exclude_tmpdir_env_var } : {}),
    ...(typeof wire.exclude_slash_tmp === 'boolean' ? { excludeSlashTmp: wire.exclude_slash_tmp } : {}),
  }
}
