import type * as z from 'zod'

/** One setting: where it comes from, what it must be, whether it may be shown. */
export interface SettingSpec {
  /** Its place in `parley.toml`: `port`, `model.base_url`. */
  readonly key: string
  /** The variables that set it, the first is its name, the others are aliases. */
  readonly env: readonly string[]
  /** The option that sets it, where a command has it. */
  readonly flag?: string
  readonly schema: z.ZodType
  /** What it is when nobody sets it, where that depends on whose machine it is; else the schema has the default. */
  readonly fallback?: (env: Readonly<Record<string, string | undefined>>) => unknown
  /** What a text in a file means that lies in this folder. */
  readonly fromFile?: (text: string, folder: string) => string
  readonly isSecret?: true
  /** What may be shown of a value that holds secrets among other things. */
  readonly shown?: (value: unknown) => unknown
  readonly doc: string
}
