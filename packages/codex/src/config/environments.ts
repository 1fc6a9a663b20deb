import * as z from 'zod'
import { parseToml } from './toml-edit.ts'

const Named = { id: z.string().min(1) }

/** One `[[environments]]` of Codex's `environments.toml`: an exec-server at a URL, or one that is started and spoken to on stdio. */
const EnvironmentEntry = z.union([
  z.object({ ...Named, url: z.string().regex(/^wss?:\/\//, 'must be ws:// or wss://') }),
  z.object({
    ...Named,
    program: z.string().min(1),
    args: z.array(z.string()).default([]),
    env: z.record(z.string(), z.string()).default({}),
    cwd: z.string().optional(),
  }),
])
export type EnvironmentEntry = z.infer<typeof EnvironmentEntry>

const EnvironmentsFile = z.looseObject({ environments: z.array(EnvironmentEntry).default([]) })

/** The environments of a file by their ids. Throws with the name of what is wrong. */
export function readEnvironments(text: string): ReadonlyMap<string, EnvironmentEntry> {
  const parsed = EnvironmentsFile.safeParse(parseToml(text))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new TypeError(`environments.toml: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'cannot be read'}`)
  }
  return new Map(parsed.data.environments.map((entry) => [entry.id, entry]))
}
