import { isJsonObject } from '@parley/protocol'
import type { Step } from '../../contract/record/scenario.ts'

/** A request that the recorded Codex refused, and that the documents declare. */
export function isDeclaredShape(step: Step): boolean {
  if (!('bad' in step) || !isJsonObject(step.params)) return false
  const { items, sandboxPolicy, summary, conversationId, rolloutPath } = step.params
  if (step.bad === 'resumeConversation' || step.bad === 'archiveConversation')
    return conversationId !== undefined && rolloutPath === undefined
  return (
    sandboxPolicy === 'read-only' ||
    summary === 'always' ||
    (step.bad === 'sendUserTurn' && summary === undefined) ||
    (Array.isArray(items) && items.some((item) => isJsonObject(item) && item['text'] !== undefined))
  )
}

/** A step that needs a sign-in with ChatGPT that has begun. */
export function isSignInStep(step: Step): boolean {
  if ('until' in step) return step.until === 'loginChatGptComplete'
  return 'ask' in step && isJsonObject(step.params) && step.params['loginId'] === '$second.loginId'
}

/** A call of the tool `codex` that wants to be asked about every command. */
export function withQuestions(step: Step): Step {
  const params = 'begin' in step || 'unanswered' in step ? step.params : undefined
  if (!isJsonObject(params) || !isJsonObject(params['arguments'])) return step
  return { ...step, params: { ...params, arguments: { ...params['arguments'], 'approval-policy': 'untrusted' } } }
}
