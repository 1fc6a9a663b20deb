import { resolve } from 'node:path'
import { isJsonObject, type JsonObject } from '@parley/protocol'
import * as z from 'zod'
import { ApprovalPolicy, type OpenOrder, SandboxMode } from '@parley/codex/port'
import { given } from '../../backend/given.ts'

/** A conversation, a subscription and a sign-in are known by such. */
export const Uuid = z.guid({ error: 'must be a UUID' }).toLowerCase()

const Config = z.custom<JsonObject>(isJsonObject, { error: 'must be an object of settings' })

/** How a conversation is to begin; also the `overrides` of one that goes on. */
export const ConversationParams = z.object({
  model: z.string().nullish(),
  profile: z.string().nullish(),
  cwd: z.string().nullish(),
  approvalPolicy: ApprovalPolicy.nullish(),
  sandbox: SandboxMode.nullish(),
  config: Config.nullish(),
  baseInstructions: z.string().nullish(),
  includePlanTool: z.boolean().nullish(),
  includeApplyPatchTool: z.boolean().nullish(),
})
type ConversationParams = z.output<typeof ConversationParams>

/** `folder` is where a path that is not absolute begins. */
export function openOrder(params: ConversationParams, folder: string): OpenOrder {
  return given({
    model: params.model,
    profile: params.profile,
    folder: typeof params.cwd === 'string' ? resolve(folder, params.cwd) : null,
    approvalPolicy: params.approvalPolicy,
    sandbox: params.sandbox,
    config: params.config,
    baseInstructions: params.baseInstructions,
    planTool: params.includePlanTool,
    patchTool: params.includeApplyPatchTool,
  })
}
