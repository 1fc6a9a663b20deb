import type { PreparedModel, PromptId } from '@parley/protocol'
import type { AgentOfGateway } from '../gateway-calls.ts'

/** The key of a turn with all that is needed to use it. */
export async function prepareTurn(
  { call, claim, prepareMs }: Pick<AgentOfGateway, 'call' | 'claim'> & { readonly prepareMs: number },
  promptId: PromptId,
  stop: AbortSignal,
): Promise<PreparedModel> {
  const tooLong = AbortSignal.timeout(prepareMs)
  try {
    return await call('host.prepare_turn', { ...claim, prompt_id: promptId }, AbortSignal.any([stop, tooLong]))
  } catch (error) {
    if (tooLong.aborted && !stop.aborted)
      throw new Error(`the gateway gave no key within ${prepareMs / 1_000} s`, { cause: error })
    throw error
  }
}
