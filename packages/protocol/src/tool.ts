import type * as z from 'zod'
import type { Audience } from './roles.ts'
import type { Scoped } from './scopes.ts'

/** MCP's hints about what a call does. Clients show and some enforce them, so they must be true. */
export interface ToolAnnotations {
  readonly title?: string
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

/** What a tool answers: an object, or one of several that a flag tells apart. */
export type AnswerSchema = z.ZodObject | z.ZodDiscriminatedUnion<readonly z.ZodObject[]>

/** One tool as data: who may call it, with which scopes, what goes in, what comes out, one line of meaning. */
export interface ToolSpec<
  Name extends string = string,
  Input extends z.ZodObject = z.ZodObject,
  Output extends AnswerSchema = AnswerSchema,
> extends Scoped {
  readonly name: Name
  readonly roles: readonly Audience[]
  readonly doc: string
  readonly input: Input
  readonly output: Output
  readonly annotations: ToolAnnotations
}

export function tool<const Name extends string, Input extends z.ZodObject, Output extends AnswerSchema>(
  spec: ToolSpec<Name, Input, Output>,
): ToolSpec<Name, Input, Output> {
  return spec
}

/** Whether a call only looks: by its hints, or because it says that the scope of readers is enough. */
export const readsOnly = ({ annotations, scopes = [] }: Pick<ToolSpec, 'annotations' | 'scopes'>): boolean =>
  annotations.readOnlyHint || scopes.includes('read')

/** The usual kinds of tool, so that a declaration names its kind instead of four booleans. */
export const READS: ToolAnnotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
export const ADDS: ToolAnnotations = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false }
export const SETS: ToolAnnotations = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false }
export const ENDS: ToolAnnotations = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false }
