import type { JsonObject } from '@parley/protocol'
import * as z from 'zod'
import { BadArguments, type BoundTool, type CallSubject, type RunContext, type ToolResult } from './toolbox.ts'
import { withoutNul } from './without-nul.ts'
import { parametersOf } from './schema/parameters.ts'

/** Names of the engine's own tools. No mounted tool is shown under one of them, whether or not the own one is there. */
export const OWN_TOOLS = ['shell', 'apply_patch', 'read_file', 'list_files', 'search', 'update_plan'] as const
export type OwnToolName = (typeof OWN_TOOLS)[number]

export interface OwnTool<Input extends z.ZodObject> {
  readonly name: OwnToolName
  readonly description: string
  /** What may be left out is nullable: a strict provider sends every field. */
  readonly input: Input
  readonly subject?: (input: z.infer<Input>) => CallSubject | Promise<CallSubject>
  readonly run: (input: z.infer<Input>, context: RunContext) => Promise<ToolResult>
}

/** Binds one of the engine's own tools: the schema for the model, and the check of what the model sends. */
export function ownTool<Input extends z.ZodObject>({ name, description, input, subject, run }: OwnTool<Input>): BoundTool {
  const parse = (args: JsonObject): z.infer<Input> => parseArguments(input, args)
  return {
    spec: { name, description, parameters: parametersOf(input), strict: true },
    mount: null,
    tool: name,
    subject: (args) => {
      const checked = parse(args)
      return subject === undefined ? { kind: 'tool' } : subject(checked)
    },
    run: async (args, context) => withoutNul(await run(parse(args), context)),
  }
}

/** Fields that may be null may be left out as well: providers without a strict mode leave them out. */
function parseArguments<Input extends z.ZodObject>(input: Input, args: JsonObject): z.infer<Input> {
  const absent = Object.entries(input.shape).flatMap(([key, field]) =>
    args[key] === undefined && z.safeParse(field, null).success ? [[key, null] as const] : [],
  )
  const parsed = input.safeParse({ ...args, ...Object.fromEntries(absent) })
  if (parsed.success) return parsed.data
  const complaints = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`)
  throw new BadArguments(`the arguments do not fit: ${complaints.join('; ')}`, { cause: parsed.error })
}
