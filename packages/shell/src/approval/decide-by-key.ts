import type { SteadyClient } from '@parley/client'
import type { Io } from '@parley/command-line'
import { Desk, WhatWaits } from './desk.ts'
import { followPending } from './follow-pending.ts'
import { Keyboard } from './keyboard.ts'

const INTERRUPTED_EXIT = 130

/** Shows one call after the other and decides by keys, until somebody quits. Answers the exit code. */
export async function decideByKey(caller: SteadyClient, io: Io): Promise<number> {
  using keyboard = new Keyboard(io)
  const waiting = new WhatWaits()
  const following = followPending(caller, { heard: (items) => waiting.take(items), signal: keyboard.signal }).finally(
    keyboard.end,
  )
  // It is waited for below, where a decision that is under way has ended.
  following.catch(() => undefined)
  try {
    await new Desk({ caller, io, answers: keyboard, waiting, idle: 'nothing waits for you; q quits' }).sit()
  } catch (error) {
    if (!keyboard.signal.aborted) throw error
  } finally {
    keyboard.end()
    io.err('\n')
    await following
  }
  return keyboard.isInterrupted ? INTERRUPTED_EXIT : 0
}
