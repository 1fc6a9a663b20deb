import {
  callsWords,
  followPrompt,
  forkAgent,
  forkWords,
  lineText,
  type ReadLine,
  readLines,
  showCalls,
  tellIfExternal,
  transcriptEnd,
} from '@parley/shell'
import type { SteadyClient } from '@parley/client'
import { AGENT_LIMITS, type AgentId, type Prompt } from '@parley/protocol'
import { agoText, columns, named, plainText, prose } from '@parley/screen'
import type { Invocation } from '@parley/command-line'
import { show, wholeNumber } from '@parley/command-line/commands'
import { withAgent } from './agents.ts'
import { givenText } from './given-text.ts'

/** Nothing failed: it goes on, and nobody waits for it here any more. */
const NOT_ENDED = 3
const EXIT: Readonly<Record<Prompt['status'], number>> = {
  queued: NOT_ENDED,
  running: NOT_ENDED,
  completed: 0,
  failed: 1,
  interrupted: 130,
  withdrawn: 130,
}
const LEFT = 130
const WAITS = 'waits for a person'
const WAIT_USUAL_S = 600
const WAIT = { min: 0, max: AGENT_LIMITS.runWaitMs / 1_000 }
const LIMIT = { min: 1, max: 100 }
const OFFSET = { min: 0, max: Number.MAX_SAFE_INTEGER }
const HEADER = ['number', 'status', 'told', 'by', 'text', 'answer']
const TEXT_CHARS = 60
const OFFSET_CHARS = 8
const TOLD = {
  doc: 'what to tell the agent',
  max: AGENT_LIMITS.promptBytes,
  tooLong: 'lay it into a file of its folder, and name that',
}

export const agentPrompt = (invocation: Invocation): Promise<number> => {
  const text = givenText(invocation, TOLD)
  return withAgent(invocation, async (caller, agent_id) => {
    const { prompt } = await caller.once('agent.prompt', { agent_id, text })
    const name = invocation.positionals[0] ?? agent_id
    return show(
      invocation,
      prompt,
      invocation.io.typed(`${prompt.prompt_id} waits for its turn; parley agent prompts ${name} says what became of it.`),
    )
  })
}

export const agentRun = (invocation: Invocation): Promise<number> => {
  const text = givenText(invocation, TOLD)
  const waitMs = (wholeNumber(invocation.values, 'wait', WAIT) ?? WAIT_USUAL_S) * 1_000
  return withAgent(invocation, async (caller, agent_id) => {
    const { io, values } = invocation
    const from = await transcriptEnd(caller, agent_id)
    const { prompt: told } = await caller.once('agent.prompt', { agent_id, text })
    const left = new AbortController()
    let times = 0
    const ignore = io.onSignal(() => {
      times += 1
      if (times > 1) return left.abort()
      io.err('ending the turn; once more leaves it to itself\n')
      caller.call('agent.abort', { agent_id }, { signal: left.signal }).catch(() => undefined)
    })
    const heard = (line: ReadLine): void => tell(line, invocation)
    try {
      const prompt = await followPrompt(caller, told, { from, waitMs, heard, signal: left.signal })
      if (values.has('json')) io.out(`${JSON.stringify(prompt)}\n`)
      if (prompt.ended_at === null)
        io.err(`it has not ended yet; parley agent transcript ${invocation.positionals[0]} --follow shows it\n`)
      return EXIT[prompt.status]
    } catch (error) {
      if (!left.signal.aborted) throw error
      return LEFT
    } finally {
      ignore()
    }
  })
}

export const agentAbort = (invocation: Invocation): Promise<number> =>
  withAgent(invocation, async (caller, agent_id) => {
    const answer = await caller.call('agent.abort', { agent_id, queued: invocation.values.has('queued') })
    const { aborting, withdrawn, rest_ended: isRestOver } = answer
    const rest = isRestOver ? ' What it waited for by itself is over.' : ''
    const ended = `${aborting === null ? 'It takes no turn.' : `The turn of ${aborting} ends.`}${rest}`
    return show(
      invocation,
      answer,
      `${ended}${withdrawn === 0 ? '' : ` ${withdrawn} that waited ${withdrawn === 1 ? 'is' : 'are'} taken back.`}`,
    )
  })

export const agentFork = (invocation: Invocation): Promise<number> => {
  const words = forkWords(invocation)
  return withAgent(invocation, (caller, agent_id) => forkAgent(caller, agent_id, invocation, words))
}

export const agentPrompts = (invocation: Invocation): Promise<number> => {
  const limit = wholeNumber(invocation.values, 'limit', LIMIT)
  return withAgent(invocation, async (caller, agent_id) => {
    const { io } = invocation
    const answer = await caller.call('agent.prompts', { agent_id, ...(limit === undefined ? {} : { limit }) })
    if (answer.items.length === 0) io.err('it was told nothing yet; parley agent run tells it something\n')
    const isAsked = answer.items.some(({ status }) => status === 'running') && (await waits(caller, agent_id))
    const rows = answer.items.map(({ number, status, created_at, by, text, outcome }) => [
      String(number),
      status === 'running' && isAsked ? `${status}, ${WAITS}` : status,
      agoText(created_at, io),
      named(by),
      prose(short(text)),
      prose(short(outcome?.message ?? '')),
    ])
    return show(invocation, answer, columns([HEADER, ...rows], io.screen(), { mayGo: ['by'] }))
  })
}

const waits = async (caller: SteadyClient, agent_id: AgentId): Promise<boolean> =>
  (await caller.call('agent.get', { agent_id })).approvals_pending > 0

export const agentTranscript = (invocation: Invocation): Promise<number> => {
  const from = wholeNumber(invocation.values, 'from', OFFSET) ?? 0
  return withAgent(invocation, async (caller, agent_id) => {
    await tellIfExternal(caller, agent_id, invocation.io)
    return showTranscript(caller, agent_id, { invocation, from })
  })
}

export const agentCalls = (invocation: Invocation): Promise<number> => {
  const words = callsWords(invocation)
  return withAgent(invocation, (caller, agent_id) => showCalls(caller, agent_id, invocation, words))
}

async function showTranscript(
  caller: SteadyClient,
  agent_id: AgentId,
  { invocation, from }: { readonly invocation: Invocation; readonly from: number },
): Promise<number> {
  const { io, values } = invocation
  const left = new AbortController()
  const ignore = io.onSignal(() => left.abort())
  try {
    for await (const read of readLines(caller, agent_id, { from, follows: values.has('follow'), signal: left.signal }))
      tell(read, invocation, { offsets: true })
    return left.signal.aborted ? LEFT : 0
  } finally {
    ignore()
  }
}

/** One line: as text where it says something to people, with all of it where a program reads. */
function tell({ text, line, nextOffset }: ReadLine, { io, values }: Invocation, { offsets = false } = {}): void {
  if (values.has('json')) return io.out(`{"next_offset":${nextOffset},"line":${text}}\n`)
  const said = line === undefined ? undefined : lineText(line)
  if (said === undefined) return
  const words = line?.type === 'asked' ? io.typed(said) : said
  const [first = '', ...rest] = words.split('\n')
  if (!offsets) return io.out(`${words}\n`)
  const indent = ' '.repeat(OFFSET_CHARS + 1)
  io.out(`${[`${String(nextOffset).padStart(OFFSET_CHARS)} ${first}`, ...rest.map((more) => `${indent}${more}`)].join('\n')}\n`)
}

const short = (text: string): string => {
  const plain = plainText(text.replaceAll(/\s+/g, ' '))
  return plain.length <= TEXT_CHARS ? plain : `${plain.slice(0, TEXT_CHARS - 1)}…`
}
