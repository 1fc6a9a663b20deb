import { resolve } from 'node:path'
import type { Invocation } from '@parley/command-line'
import { makePrivateFile, show } from '@parley/command-line/commands'

/** Makes a token and shows it, this once: on stdout, or in the new file that `--out` names. */
export async function showNewToken<Made extends { readonly token: string }>(
  invocation: Invocation,
  make: () => Promise<Made>,
  wordsOf: (made: Made) => string,
): Promise<number> {
  const { io, values } = invocation
  const out = values.text('out')
  const create = async () => {
    const made = await make()
    return { made, text: `${made.token}\n` }
  }
  const { made } = out === undefined ? await create() : await makePrivateFile({ what: '--out', file: out, cwd: io.cwd }, create)
  const { token, ...rest } = made
  // Only the token goes to stdout: `$(…)` makes a variable of it.
  if (!values.has('json')) {
    const where = out === undefined ? 'It is not shown again.' : `It is in ${out}, which only you can read.`
    io.err(`${wordsOf(made)} ${where}\n`)
  }
  if (out === undefined) return show(invocation, { token, ...rest }, token)
  if (values.has('json')) return show(invocation, { file: resolve(io.cwd, out), ...rest }, '')
  return 0
}
