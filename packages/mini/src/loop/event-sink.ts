import type { ConversationListener, EngineEvent } from '@parley/agent'

/** Tells a listener what happens. One that throws loses the event, and nothing else. */
export function openEventSink(listener: ConversationListener): (event: EngineEvent) => void {
  return (event) => {
    try {
      listener.event(event)
    } catch {
      // A listener's fault must not end somebody's turn; there is nobody else to tell.
    }
  }
}
