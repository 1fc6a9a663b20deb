import { CommandError, pathWords } from '../index.ts'
import { inCommands } from './tool-words.ts'

/** Names that our typed errors carry; anything else is a bug of ours. */
const TYPED = new Set([
  'ToolError',
  'WireError',
  'RpcError',
  'ProcessError',
  'GatewayRefused',
  'StoreError',
  'SandboxUnavailable',
  'BadRunRequest',
  'WorkFolderFailed',
  'EngineMissing',
  'ExecutorLost',
  'SessionRefused',
])

/** Turns whatever was thrown into one line with a code, and the way out where whoever threw it knows one. */
export function asCommandError(error: unknown): CommandError {
  if (error instanceof CommandError) return error
  if (!(error instanceof Error)) return new CommandError('internal', String(error))
  const code =
    'code' in error && (typeof error.code === 'string' || typeof error.code === 'number') ? String(error.code) : undefined
  if (code !== undefined && isTyped(error)) {
    const told = textIn(error, 'hint')
    const hint = told === undefined ? undefined : inCommands(told)
    const field = textIn(error, 'field')
    const said = error.message
    if (code === 'unreachable' && told === undefined) {
      const { what, advice } = splitAdvice(said)
      return new CommandError(code, what, { cause: error, ...(advice === undefined ? {} : { hint: advice }) })
    }
    const message = field === undefined ? said : aboutField(field, said)
    return new CommandError(code, message, { cause: error, ...(hint === undefined ? {} : { hint }) })
  }
  if (code !== undefined && 'syscall' in error) {
    const path = textIn(error, 'path')
    const words = path === undefined ? undefined : pathWords(error)
    if (words === undefined) return new CommandError(code, error.message, { cause: error })
    return new CommandError(code, `${path}: ${words.said}`, { hint: words.hint, cause: error })
  }
  return new CommandError('internal', `something that should not happen: ${error.message}`, {
    hint: 'PARLEY_DEBUG=1 shows where',
    cause: error,
  })
}

/** The wire says after a semicolon what helps where it knows: that is then the one hint, and no other is given beside it. */
export function splitAdvice(message: string): { readonly what: string; readonly advice?: string } {
  const at = message.indexOf('; ')
  return at < 0 ? { what: message } : { what: message.slice(0, at), advice: message.slice(at + 2) }
}

/** Whoever is not there, or is there already, is named in the sentence; a rule needs to be told what it is for. */
function aboutField(field: string, said: string): string {
  const bare = said.startsWith(`${field}: `) ? said.slice(field.length + 2) : said
  if (bare.includes(field) || !bare.startsWith('must ')) return bare
  return field === 'username' ? `the name of a user ${bare}` : `${field}: ${bare}`
}

/** Errors keep their class name through subclasses; those of other rooms are told by it without loading the rooms. */
function isTyped(error: Error): boolean {
  for (let prototype: unknown = error; prototype instanceof Error; prototype = Object.getPrototypeOf(prototype)) {
    if (TYPED.has(prototype.name) || TYPED.has(prototype.constructor.name)) return true
  }
  return false
}

function textIn(error: object, name: string): string | undefined {
  const value: unknown = Reflect.get(error, name)
  return typeof value === 'string' ? value : undefined
}
