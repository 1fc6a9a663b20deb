import { basename, delimiter, dirname } from 'node:path'
import { type FoundProgram, findProgram } from '@parley/judge'
import { CommandError, type Io } from '@parley/command-line'
import { toolPlacesOf } from './tool-places.ts'

/** As shells have it. */
const NOT_FOUND_EXIT = 127

/** The program that a command names. Throws `CommandError`. */
export async function namedProgram(command: string, { env, cwd }: Pick<Io, 'env' | 'cwd'>): Promise<FoundProgram> {
  const { homeFolder } = toolPlacesOf(env)
  const path = (env['PATH'] ?? '').split(delimiter)
  const search = await findProgram(command, { path, cwd, ...(homeFolder === undefined ? {} : { homeFolder }) })
  if (search.kind === 'found') return search
  if (search.kind === 'missing')
    throw new CommandError('command_not_found', `there is no program ${command}`, {
      hint: 'give its path, or check PATH',
      exitCode: NOT_FOUND_EXIT,
    })
  const manager = basename(dirname(dirname(search.path))).replace(/^\./, '')
  throw new CommandError(
    'command_not_found',
    `${search.path} is a shim of a version manager, which is not there inside the sandbox`,
    {
      hint: `give the path of the program itself: ${manager} which ${command} may tell it`,
      exitCode: NOT_FOUND_EXIT,
    },
  )
}
