import { isJsonObject, parseJson, PolicyLayer, type ToolInput, TOOLS } from '@parley/protocol'
import { type OptionSpec, usageError, type Values } from '@parley/command-line'

/** The call that is tried. */
export const TRIED_CALL_OPTIONS = {
  mount: { doc: 'the mount that is called; without it an engine’s own', value: 'NAME' },
  tool: { doc: 'a tool of it', value: 'NAME' },
  resource: { doc: 'a resource of it', value: 'URI' },
  prompt: { doc: 'a prompt of it', value: 'NAME' },
  command: { doc: 'a command of an engine’s own', value: 'COMMAND' },
  args: { doc: 'the arguments, a JSON object (default {})', value: 'JSON' },
} as const satisfies Record<string, OptionSpec>

const KINDS = ['tool', 'resource', 'prompt', 'command'] as const

const ARGS = TOOLS['policy.test'].input.shape.call.shape.args

type TriedCall = ToolInput<'policy.test'>['call']

export function triedCall(values: Values): TriedCall {
  const given = KINDS.filter((kind) => values.has(kind))
  const [kind] = given
  if (kind === undefined || given.length > 1)
    throw usageError('policy test needs one of --tool, --resource, --prompt and --command', 'parley policy test --help')
  const mount = values.text('mount')
  const args = values.text('args')
  return {
    [kind]: values.text(kind),
    ...(mount === undefined ? {} : { mount }),
    ...(args === undefined ? {} : { args: argsOf(args) }),
  }
}

/** The layer that a policy of a file stands for. */
export function layerOf(values: Values): { readonly layer?: PolicyLayer } {
  const layer = values.text('layer')
  if (layer !== undefined && !values.has('file')) throw usageError('--layer says what --file stands for: give that too')
  return layer === undefined ? {} : { layer: PolicyLayer.parse(layer) }
}

/** It is not repeated in what is said of it: it may hold a secret. */
function argsOf(text: string): TriedCall['args'] {
  const value = parseJson(text)
  const args = ARGS.safeParse(value)
  if (isJsonObject(value) && args.success) return args.data
  throw usageError('--args must be a JSON object, as in {"path":"a"}')
}
