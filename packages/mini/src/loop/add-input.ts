import type { TurnInput } from '@parley/agent'
import type { ConversationState } from './conversation-state.ts'
import { userItem } from './item.ts'

/** Puts what somebody says into the conversation, and into its log. */
export function addInput(
  { history, log }: Pick<ConversationState, 'history' | 'log'>,
  { input, pinned = false, heard }: Pick<TurnInput, 'input' | 'pinned' | 'heard'>,
): void {
  const item = userItem(input)
  history.addInput(log.add({ type: 'input', item, pinned, ...(heard === undefined ? {} : { heard }) }), item, pinned)
}
