import { costText, type Usage } from '@parley/protocol'
import { element } from '../element.ts'
import { countText } from '../text/amount-text.ts'

/** What the calls of the model came to. */
export function usageCard(
  { usage, cost_microusd, calls, unpriced_calls, estimated_calls, script }: Usage,
  isScript: boolean,
): HTMLElement {
  const { input_tokens, cached_input_tokens, output_tokens, reasoning_output_tokens = 0 } = usage
  const cost = costText(cost_microusd ?? null, unpriced_calls ?? 0)
  return element(
    'section',
    { class: 'card', 'aria-label': 'Usage' },
    element('h3', {}, 'Usage'),
    element(
      'dl',
      { class: 'usage' },
      ...row('Cost', (script ?? isScript) ? 'nothing: a script was played' : cost),
      ...(calls === undefined ? [] : row('Calls', `${calls}${estimated(estimated_calls)}`)),
      ...row('Tokens in', `${countText(input_tokens)}${part(cached_input_tokens, 'cached')}`),
      ...row('Tokens out', `${countText(output_tokens)}${part(reasoning_output_tokens, 'reasoning')}`),
    ),
  )
}

const part = (count: number, word: string): string => (count > 0 ? ` (${countText(count)} ${word})` : '')
const estimated = (count = 0): string => (count > 0 ? ` (${count} estimated)` : '')
const row = (name: string, text: string): readonly HTMLElement[] => [element('dt', {}, name), element('dd', {}, text)]
