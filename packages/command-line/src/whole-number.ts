import type { Invocation } from './command.ts'
import { usageError } from './command-error.ts'

/** The number that an option gives, within its bounds. */
export function wholeNumber(
  values: Invocation['values'],
  flag: string,
  { min, max }: { readonly min: number; readonly max: number },
): number | undefined {
  const text = values.text(flag)
  if (text === undefined) return undefined
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw usageError(`--${flag} must be a whole number from ${min} to ${max}, not ${JSON.stringify(text)}`)
}
