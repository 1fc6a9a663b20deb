import type { PolicyReview } from '@parley/protocol'
import { agoText, columns, named, plainText } from '@parley/screen'
import { callText } from '../call-text.ts'
import type { Io } from '@parley/command-line'

type Reviewed = Pick<PolicyReview, 'examples' | 'replayed'>
type Reader = Pick<Io, 'env' | 'now' | 'screen'>

const HEADER = ['', 'agent', 'call', 'before', 'after', 'by rule', 'made']

/** What a version would change, in lines: what fails, how much was looked at, and what becomes looser before all else. */
export function reviewText({ examples, replayed }: Reviewed, io: Reader): string {
  const failed = examples.failed.map(
    ({ example, wanted, decided, rule }) =>
      `example ${example} fails: it says ${wanted}, and ${rule === null ? 'without any rule' : `by the rule ${plainText(rule)}`} it is ${decided}`,
  )
  return [examplesText(examples), ...failed, replayedText(replayed), ...changesText(replayed, io)].join('\n')
}

function examplesText({ run, failed }: Reviewed['examples']): string {
  if (run === 0) return 'It has no examples.'
  return `${run - failed.length} of ${run} ${run === 1 ? 'example holds' : 'examples hold'}.`
}

function replayedText({ calls, agents, changed, looser }: Reviewed['replayed']): string {
  if (calls === 0) return 'No call was made yet that it could be tried on.'
  const on = `${count(calls, 'call')} of ${count(agents, 'agent')} ${calls === 1 ? 'was' : 'were'} looked at`
  if (changed === 0) return `${on}: nothing would be decided otherwise.`
  return `${on}: ${changed} would be decided otherwise, ${looser === 0 ? 'none of them looser' : `${looser} of them looser`}.`
}

function changesText({ items, changed }: Reviewed['replayed'], io: Reader): string[] {
  if (items.length === 0) return []
  const sorted = [...items.filter(({ looser }) => looser), ...items.filter(({ looser }) => !looser)]
  const rows = sorted.map(({ agent, kind, mount, name, before, after, rule, at, looser }) => [
    looser ? 'looser' : 'stricter',
    named(agent),
    { shown: callText({ kind, mount, name }) },
    before,
    after,
    rule ?? '',
    agoText(at, io),
  ])
  const more = changed - items.length
  return [columns([HEADER, ...rows], io.screen(), { mayGo: ['made', 'by rule'] }), ...(more > 0 ? [`… and ${more} more`] : [])]
}

const count = (many: number, noun: string): string => `${many} ${noun}${many === 1 ? '' : 's'}`
