import { costText, type Usage } from '@parley/protocol'
import { plainText } from './plain-text.ts'

/** A number with its thousands apart. */
export const counted = (count: number): string => String(count).replaceAll(/\B(?=(\d{3})+$)/g, ' ')

/** What the calls of a model came to, on one line. What has no price is said, and is not nothing. */
export function usageText({ model, usage, cost_microusd, calls, unpriced_calls, estimated_calls, script }: Usage): string {
  const { input_tokens, cached_input_tokens, output_tokens, reasoning_output_tokens = 0 } = usage
  const parts = [
    ...(calls === undefined ? [] : [`${calls} ${calls === 1 ? 'call' : 'calls'}`]),
    `${counted(input_tokens)} tokens in${cached_input_tokens > 0 ? ` (${counted(cached_input_tokens)} cached)` : ''}`,
    `${counted(output_tokens)} out${reasoning_output_tokens > 0 ? ` (${counted(reasoning_output_tokens)} reasoning)` : ''}`,
    script === true ? 'a script, which costs nothing' : costText(cost_microusd ?? null, unpriced_calls ?? 0, calls),
    ...(estimated_calls === undefined || estimated_calls === 0 ? [] : [`${estimated_calls} of them estimated`]),
  ]
  return `${plainText(model)}: ${parts.join(', ')}`
}
