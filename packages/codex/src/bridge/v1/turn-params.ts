import type { InputPart } from '@parley/agent'
import type { JsonObject } from '@parley/protocol'
import type { TurnOrder } from '../../port/order.ts'
import { defined } from './open-params.ts'
import { type SandboxTag, sandboxParams } from './sandbox-params.ts'

/** What holds for a conversation when a turn says nothing else, in the words of `sendUserTurn`. */
export interface TurnSettings {
  readonly cwd: string
  readonly approvalPolicy: string
  readonly sandboxPolicy: JsonObject
  readonly model: string
  readonly effort: string | null
  readonly summary: string
}

const OVERRIDES = ['folder', 'approvalPolicy', 'sandboxPolicy', 'model', 'effort', 'summary'] as const

/** Whether a turn is to differ from its conversation. */
export const hasOverrides = (order: TurnOrder): boolean => OVERRIDES.some((name) => order[name] !== undefined)

/** Input as these versions read it. */
export function itemsOf(input: readonly InputPart[]): JsonObject[] {
  return input.map((part) =>
    part.type === 'text' ? { type: 'text', data: { text: part.text } } : { type: 'image', data: { image_url: part.url } },
  )
}

/** `sendUserTurn` needs every setting, whether it differs or not. */
export function turnParams(order: TurnOrder, settings: TurnSettings, tag: SandboxTag): JsonObject {
  const effort = order.effort ?? settings.effort ?? undefined
  return defined({
    cwd: order.folder ?? settings.cwd,
    approvalPolicy: order.approvalPolicy ?? settings.approvalPolicy,
    sandboxPolicy: order.sandboxPolicy === undefined ? settings.sandboxPolicy : sandboxParams(order.sandboxPolicy, tag),
    model: order.model ?? settings.model,
    effort,
    summary: order.summary ?? settings.summary,
  })
}
