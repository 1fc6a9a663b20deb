import { tmpdir } from 'node:os'
import { isAbsolute } from 'node:path'
import { ProcessError, type ProcessSpec } from './processes.ts'
import { LINE_BYTES } from './spawner-wire.ts'

/** What the system cannot pass on, because its strings end at a NUL. */
const NUL = '\0'

/** Checks a spec and fills in what was left out; throws `invalid_spec` that names the field. */
export function checkSpec({
  command,
  args = [],
  env,
  cwd = tmpdir(),
  groupOutlivesLeader = false,
  contained = false,
}: ProcessSpec): Required<ProcessSpec> {
  if (command === '') throw invalid('command', 'must not be empty')
  if (command.includes(NUL)) throw invalid('command', 'must not hold a NUL')
  args.forEach((arg, index) => {
    if (arg.includes(NUL)) throw invalid(`args[${index}]`, 'must not hold a NUL')
  })
  for (const [name, value] of Object.entries(env)) {
    if (name === '' || name.includes('=') || name.includes(NUL))
      throw invalid('env', `has a name that cannot be one: ${JSON.stringify(name)}`)
    if (value.includes(NUL)) throw invalid(`env.${name}`, 'must not hold a NUL')
  }
  if (!isAbsolute(cwd) || cwd.includes(NUL)) throw invalid('cwd', `must be an absolute path, not ${JSON.stringify(cwd)}`)
  const whole = { command, args, env, cwd, groupOutlivesLeader, contained }
  if (Buffer.byteLength(JSON.stringify(whole)) > LINE_BYTES / 2) throw invalid('args', 'is too large together with env')
  return whole
}

function invalid(field: string, problem: string): ProcessError {
  return new ProcessError('invalid_spec', `${field} ${problem}`, { field })
}
