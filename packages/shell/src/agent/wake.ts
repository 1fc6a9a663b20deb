import { type Agent, AGENT_LIMITS, WakeOn, WakeRules } from '@parley/protocol'
import { type Invocation, usageError } from '@parley/command-line'
import { parseDuration } from '@parley/command-line/commands'
import { plainText } from '@parley/screen'
import { WAKE_OPTIONS } from './wake-options.ts'

export const hasWake = (values: Invocation['values']): boolean => Object.keys(WAKE_OPTIONS).some((name) => values.has(name))

/** The rules of an agent with what the options change of them. */
export function wakeOf(values: Invocation['values'], before: WakeRules = WakeRules.parse({})): WakeRules {
  const what = values.text('wake')
  const every = values.text('wake-every')
  const every_s = every === undefined ? before.every_s : parseDuration('--wake-every', every)
  if (every_s < 1 || every_s > AGENT_LIMITS.wakeEveryS) throw usageError('--wake-every must be from 1s to 24h')
  if (what === undefined) return { ...before, every_s }
  const words = what === 'none' ? [] : what.split(',').map((word) => word.trim())
  const named = WakeOn.array().safeParse(words)
  if (!named.success) throw usageError(`--wake must be none, or of ${WakeOn.options.join(', ')} with commas between`)
  const has = (on: WakeOn): boolean => named.data.includes(on)
  return { chat: has('chat'), resources: has('resources'), calls: has('calls'), every_s }
}

/** What wakes a local agent, in words. */
export function wakeText({ chat, resources, calls, every_s }: WakeRules): string {
  const words = [
    ...(chat ? ['chat'] : []),
    ...(resources ? [`resources at most every ${every_s} s`] : []),
    ...(calls ? ['calls that end'] : []),
  ]
  return words.length === 0 ? 'nothing but prompts and timers of its own' : words.join(', ')
}

/** For what an agent rests that ended its last turn itself, in words; `until` as people are shown times. */
export function restText(rest: NonNullable<Agent['rest']>, until: (at: string) => string): string {
  const { wake_on: on, resources } = rest
  const words = [
    on === null ? 'what may wake it' : on.length === 0 ? '' : on.join(', '),
    resources === null ? '' : `of resources only ${resources.map((uri) => plainText(uri)).join(', ')}`,
    rest.until === null ? '' : `${until(rest.until)} at the latest`,
  ].filter((word) => word !== '')
  return words.length === 0 ? 'yielded, and rests until it is told something' : `yielded, and waits for ${words.join('; ')}`
}
