import type { InputPart, NewsInput, TurnInput } from '@parley/agent'
import type { NewsKind } from '@parley/protocol'
import { CONTINUE_TEXT } from './turn-text.ts'

/** What a turn is told when it begins: what is new first, then what somebody said, where somebody did. */
export function turnInput(
  prompt: { readonly text: string; readonly woken_by: NewsKind | null },
  { news, before, isLeft }: { readonly news: NewsInput | undefined; readonly before: string; readonly isLeft: boolean },
): Pick<TurnInput, 'input' | 'heard'> {
  const own = prompt.woken_by === null ? prompt.text : ''
  const text = isLeft ? CONTINUE_TEXT : own
  // What woke a turn that was left is among what was said before, where the engine does not know it.
  if (news === undefined) return { input: said(before, before === '' && text === '' ? CONTINUE_TEXT : text) }
  return { input: [...said(before), ...news.input, ...said(text)], heard: news.heard }
}

function said(...texts: readonly string[]): readonly InputPart[] {
  const text = texts.filter((each) => each !== '').join('\n\n')
  return text === '' ? [] : [{ type: 'text', text }]
}

export const textOf = (part: InputPart): string => (part.type === 'text' ? part.text : '')
