import type { RunRequest } from './sandbox.ts'
import { DEFAULT_ENVIRONMENT } from './defaults.ts'

const BOX = '/box'
const TMP = '/tmp'

/** Without namespaces the box has a path of its own: arguments and variables that name `/box` or `/tmp` name it instead. */
export function withRealPaths(request: RunRequest, folder: string): RunRequest {
  if (folder === '') return request
  const real = (text: string): string => {
    for (const [inside, outside] of [
      [BOX, `${folder}/box`],
      [TMP, `${folder}/tmp`],
    ] as const) {
      if (text === inside || text.startsWith(`${inside}/`)) return outside + text.slice(inside.length)
    }
    return text
  }
  const [program, ...rest] = request.argv
  const environment = Object.entries(request.environment ?? DEFAULT_ENVIRONMENT).map(
    ([name, value]) => [name, real(value)] as const,
  )
  return {
    ...request,
    // A path relative to the working folder needs no right to walk down to it.
    argv: [program.startsWith(`${BOX}/`) ? `.${program.slice(BOX.length)}` : program, ...rest.map(real)],
    environment: { TMPDIR: `${folder}/tmp`, ...Object.fromEntries(environment) },
  }
}
