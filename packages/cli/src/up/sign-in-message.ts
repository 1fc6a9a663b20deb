import type { Values } from '@parley/command-line'
import { inShell } from '../wording/program.ts'
import type { Ready } from '../gateway-process/plan.ts'

/** Options that lead another command to the same instance. */
const SAME_INSTANCE = ['data', 'database', 'config'] as const

/** The options that were given of these, as they are typed after a command. */
export function sameInstance(values: Values): string {
  return SAME_INSTANCE.flatMap((name) => {
    const given = values.text(name)
    return given === undefined ? [] : [` --${name} ${inShell(given)}`]
  }).join('')
}

/** How to sign in, for whoever started a gateway. Commands are written `parley …`. */
export function signInMessage({ sign_in, admin }: Pick<Ready, 'sign_in' | 'admin'>, values: Values): readonly string[] {
  const same = sameInstance(values)
  if (admin === null) return [`No admin can sign in. This makes one: parley user add NAME --admin${same}`]
  if (sign_in === null)
    return [`Sign in as ${admin} with the password. This makes a one-time link instead: parley user link ${admin}${same}`]
  return [
    `Sign in as ${admin} by this link. It works once, within 15 minutes:`,
    `  ${sign_in}`,
    `${admin} has no password yet; tokens made before it has one end with it, its agents’ too, unless --keep-tokens is given. Set one on the page, or with: parley user passwd ${admin}${same}`,
    'Until then every start prints a new link.',
  ]
}
