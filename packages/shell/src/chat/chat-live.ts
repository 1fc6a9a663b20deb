import type { SteadyClient } from '@parley/client'
import { type Agent, ToolError } from '@parley/protocol'
import type { Io } from '@parley/command-line'
import { asCommandError } from '@parley/command-line/wording'
import { readLines, transcriptEnd } from '../agent/read-lines.ts'
import { Desk, WhatWaits } from '../approval/desk.ts'
import { followPending } from '../approval/follow-pending.ts'
import { linkTeller } from '../command-client.ts'
import { ChatLink, whyNoMessage } from './chat-link.ts'
import type { ChatWords } from './chat-options.ts'
import { ChatTerminal } from './chat-terminal.ts'
import { activityText, messageText } from './chat-text.ts'
import { unlessForbidden, untilFirst } from './side-by-side.ts'

const INTERRUPTED_EXIT = 130
/** Lines that may be on their way at once; more are not taken. */
const ON_THEIR_WAY = 100

/** A chat at a terminal: messages as they come, what the agent does meanwhile, and what waits for approval, answered by a word. */
export async function chatLive(
  caller: SteadyClient,
  agent: Pick<Agent, 'agent_id' | 'kind'>,
  { words, io }: { readonly words: ChatWords; readonly io: Io },
): Promise<number> {
  const { agent_id } = agent
  const over = new AbortController()
  let onWay = 0
  const say = (text: string): void => {
    const why = whyNoMessage(text) ?? (onWay >= ON_THEIR_WAY ? 'has to wait: too many before it are on their way' : undefined)
    if (why !== undefined) return terminal.show(`not said, because it ${why}`)
    terminal.waits((onWay += 1))
    link
      .say(text)
      .catch((error: unknown) => {
        if (over.signal.aborted) return
        // The way to the gateway is gone for good: whoever reads tells it.
        if (error instanceof ToolError) terminal.show(`not said: ${asCommandError(error).message}`)
      })
      .finally(() => terminal.waits((onWay -= 1)))
  }
  using terminal = new ChatTerminal({ io, said: say })
  const link = new ChatLink(caller, {
    agent_id,
    reader: words.reader,
    random: io.random,
    signal: over.signal,
    heard: (message) => terminal.show(messageText(message, io)),
    warn: terminal.show,
  })
  caller.tell = linkTeller(terminal.show)
  terminal.signal.addEventListener('abort', () => over.abort(), { once: true })
  const shown: Io = { ...io, out: terminal.show, err: terminal.show }
  try {
    const from = words.from === 'unread' ? { after: await link.place() } : words.from
    await untilFirst(over, {
      until: link.read(from),
      beside: [
        leaveWhenLeft(terminal, link),
        approve(caller, { agent, terminal, io: shown, signal: over.signal }),
        ...(agent.kind === 'local' ? [tellActivity(caller, { agent, terminal, io, signal: over.signal })] : []),
      ],
      end: () => terminal.end(),
    })
  } catch (error) {
    if (!terminal.isInterrupted) throw error
  }
  return terminal.isInterrupted ? INTERRUPTED_EXIT : 0
}

async function leaveWhenLeft(terminal: ChatTerminal, link: ChatLink): Promise<void> {
  if (!terminal.left.aborted) await new Promise((resolve) => terminal.left.addEventListener('abort', resolve, { once: true }))
  if (!terminal.signal.aborted) await link.leave()
}

interface Side {
  readonly agent: Pick<Agent, 'agent_id'>
  readonly terminal: ChatTerminal
  readonly io: Io
  readonly signal: AbortSignal
}

async function approve(caller: SteadyClient, { agent, terminal, io, signal }: Side): Promise<void> {
  const waiting = new WhatWaits()
  const heard = waiting.take.bind(waiting)
  const following = followPending(caller, { of: agent.agent_id, heard, signal }).catch(unlessForbidden(terminal.show))
  const sitting = new Desk({ caller, io, answers: terminal, waiting, before: '/' }).sit().catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
  await Promise.all([following, sitting])
}

async function tellActivity(caller: SteadyClient, { agent, terminal, io, signal }: Side): Promise<void> {
  const from = await transcriptEnd(caller, agent.agent_id)
  for await (const { line } of readLines(caller, agent.agent_id, { from, follows: true, signal })) {
    const text = line === undefined ? undefined : activityText(line, io)
    if (text !== undefined) terminal.show(text)
  }
}
