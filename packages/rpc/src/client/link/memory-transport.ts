import type { ClientTransport, Sink, ClientLink, LinkEnd } from './client-link.ts'

/** One end of a pair: what is sent here arrives there, in order, never in the same tick. */
export interface MemoryEnd {
  send(text: string): void
  /** Must be called once, before anything arrives. */
  listen(onText: (text: string) => void, onClose: (reason: string) => void): void
  close(reason: string): void
}

class End implements MemoryEnd {
  /** Set once, right after both ends exist. */
  other: End | undefined
  #onText: ((text: string) => void) | undefined
  #onClose: ((reason: string) => void) | undefined
  #closed = false

  send(text: string): void {
    const { other } = this
    if (!this.#closed) queueMicrotask(() => other?.take(text))
  }
  take(text: string): void {
    if (!this.#closed) this.#onText?.(text)
  }
  listen(onText: (text: string) => void, onClose: (reason: string) => void): void {
    this.#onText = onText
    this.#onClose = onClose
  }
  close(reason: string): void {
    if (this.#closed) return
    this.#closed = true
    const { other } = this
    queueMicrotask(() => {
      if (other === undefined || other.#closed) return
      other.#closed = true
      other.#onClose?.(reason)
    })
  }
}

/** Two ends in one process. Give one to `memoryTransport`, serve the other. */
export function memoryPair(): { readonly client: MemoryEnd; readonly server: MemoryEnd } {
  const client = new End()
  const server = new End()
  client.other = server
  server.other = client
  return { client, server }
}

/** A client's side of a pair. */
export function memoryTransport(end: MemoryEnd): ClientTransport {
  return { kind: 'memory', open: (sink) => new MemoryLink(end, sink) }
}

class MemoryLink implements ClientLink {
  readonly kind = 'memory'
  readonly #end: MemoryEnd

  constructor(end: MemoryEnd, sink: Sink) {
    this.#end = end
    const ended = (reason: string): void => {
      const why: LinkEnd = { code: undefined, reason }
      sink.ended(why)
    }
    end.listen((text) => sink.receive(text), ended)
  }

  send(text: string): void {
    this.#end.send(text)
  }
  /** Everything sent is delivered before the next task: nothing can pile up. */
  bufferedBytes(): number {
    return 0
  }
  close(): Promise<void> {
    this.#end.close('the client closed')
    return Promise.resolve()
  }
}
