import type { KnownTask } from './known-task.ts'

/** Tells how a task stands, now and whenever that has changed. One look at a time, so that what is told last is the newest. */
export function followTask(task: KnownTask, tell: (text: string) => void): () => void {
  const over = new AbortController()
  let isLooking = false
  let isStale = false
  let told: string | undefined
  const look = async (): Promise<void> => {
    isStale = true
    if (isLooking) return
    isLooking = true
    do {
      isStale = false
      const text = await task.detailed()
      if (over.signal.aborted) return
      // What changes may be of no concern to whoever only wants to know how it stands.
      if (text !== told) tell(text)
      told = text
    } while (isStale)
    isLooking = false
  }
  // What cannot be read any more has nothing to tell; whoever asks hears why.
  const changed = (): void => void look().catch(() => undefined)
  const stop = task.watch(changed)
  changed()
  return () => {
    over.abort()
    stop()
  }
}
