import { messageOf } from '@parley/protocol'
import type { ExecProcess, OutputChunk, ProcessEvent, ReadResult, Subscription } from './exec-process.ts'

/** How following a process ended. */
export type ProcessEnd =
  | { readonly kind: 'closed' }
  /** Whoever runs it says that it failed, or cannot be reached any more. */
  | { readonly kind: 'failed'; readonly message: string }
  /** There are no more events, and no word of its end. What was retained has been read. */
  | { readonly kind: 'ended' }
  /** Events are missing that cannot be read back. */
  | { readonly kind: 'gap'; readonly expected: number; readonly received: number }
  /** Events were missed and reading them back failed. */
  | { readonly kind: 'unread'; readonly message: string }

export interface ProcessFollower {
  /** Each piece of output once, in order, without a hole. */
  output(chunk: OutputChunk): void
  /** It has ended by itself or was ended; output may follow. */
  exited?(exitCode: number): void
  /** So many events did not come by themselves; they are being read back. */
  lagged(skipped: number): void
  /** Nothing follows. Told once. */
  ended(end: ProcessEnd): void
}

/**
 * Follows a process from its beginning, live. In a healthy stream nothing is ever read: a number that was seen is passed over, and only
 * a hole is read back. What is lost for good ends it, because to go on would join what does not belong together.
 */
export function followProcess(process: ExecProcess, follower: ProcessFollower): { close(): void } {
  let lastSeq = 0
  let hasExited = false
  let isOver = false
  /** While something is read back, what comes is passed over: it is read too. */
  let isReading = false
  let hasPassedOver = false
  let lastWord: ProcessEnd | undefined
  const following: { subscription?: Subscription } = {}

  const end = (how: ProcessEnd): void => {
    if (isOver) return
    isOver = true
    follower.ended(how)
  }
  const accept = (chunk: OutputChunk): void => {
    lastSeq = chunk.seq
    follower.output(chunk)
  }

  const take = (event: ProcessEvent): void => {
    if (isOver) return
    if (isReading) return passOver(event)
    if (event.kind === 'failed') return end(event)
    if (event.kind === 'ended') return void readBack(event)
    if (event.kind === 'lagged') return missed(event.skipped)
    if (event.seq <= lastSeq) return
    if (event.seq > lastSeq + 1) return missed(event.seq - lastSeq - 1)
    if (event.kind === 'output') return accept(event)
    lastSeq = event.seq
    if (event.kind === 'exited') exited(event.exitCode)
    else end({ kind: 'closed' })
  }
  const exited = (exitCode: number | null): void => {
    if (hasExited || exitCode === null) return
    hasExited = true
    follower.exited?.(exitCode)
  }
  const missed = (skipped: number): void => {
    follower.lagged(skipped)
    void readBack(undefined)
  }

  const passOver = (event: ProcessEvent): void => {
    if (event.kind === 'failed' || event.kind === 'ended') lastWord = event
    else hasPassedOver = true
  }

  const readBack = async (after: ProcessEnd | undefined): Promise<void> => {
    isReading = true
    lastWord = after
    following.subscription?.pause()
    try {
      do {
        hasPassedOver = false
        addAll(await process.read({ afterSeq: lastSeq, waitMs: 0 }))
      } while (hasPassedOver)
    } catch (error) {
      lastWord ??= { kind: 'unread', message: messageOf(error) }
    }
    isReading = false
    if (lastWord !== undefined) end(lastWord)
    following.subscription?.taken(lastSeq)
    following.subscription?.resume()
  }

  const addAll = (result: ReadResult): void => {
    if (isOver) return
    if (result.truncated && result.firstSeq > lastSeq + 1)
      return end({ kind: 'gap', expected: lastSeq + 1, received: result.firstSeq })
    for (const chunk of result.chunks) {
      if (chunk.seq <= lastSeq) continue
      // That it exited has a number too and is no chunk.
      if (chunk.seq === lastSeq + 2 && result.exited && !hasExited) {
        exited(result.exitCode)
        lastSeq += 1
      }
      if (chunk.seq !== lastSeq + 1) return end({ kind: 'gap', expected: lastSeq + 1, received: chunk.seq })
      accept(chunk)
    }
    lastSeq = Math.max(lastSeq, result.nextSeq - 1)
    exited(result.exitCode)
    if (result.failure !== null) end({ kind: 'failed', message: result.failure })
    else if (result.closed) end({ kind: 'closed' })
  }

  // What is retained is handed over before `subscribe` answers, a hole in it too.
  const subscription = process.subscribe(take)
  following.subscription = subscription
  if (isReading) subscription.pause()
  return { close: () => subscription.close() }
}
