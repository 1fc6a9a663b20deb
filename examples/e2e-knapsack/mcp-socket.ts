/** What a tool answered, or how it failed. */
interface ToolAnswer {
  readonly structuredContent?: Record<string, unknown>
  readonly content?: readonly { readonly text?: string }[]
  readonly isError?: boolean
}

/** One message, as far as it is looked at here. */
interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: ToolAnswer
  readonly error?: { readonly message: string }
}

/** MCP over a plain WebSocket: one JSON-RPC message per frame, and no handshake but the token. */
export class McpSocket {
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, (message: Message) => void>()
  #last = 0

  private constructor(socket: WebSocket, heard: (method: string, params: Record<string, unknown>) => void) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => {
      const message = parse(String(data))
      if (message.id !== undefined) this.#waiting.get(message.id)?.(message)
      else if (message.method !== undefined) heard(message.method, message.params ?? {})
    })
    // Whoever still waits is told, instead of waiting for ever.
    socket.addEventListener('close', () => {
      for (const answer of this.#waiting.values()) answer({ error: { message: 'the connection was closed' } })
    })
  }

  static async open(
    url: string,
    heard: (method: string, params: Record<string, unknown>) => void = () => {},
  ): Promise<McpSocket> {
    const socket = new WebSocket(url)
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve(), { once: true })
      socket.addEventListener('error', () => reject(new Error('no WebSocket answers there')), { once: true })
    })
    return new McpSocket(socket, heard)
  }

  /** Calls a tool and answers its `structuredContent`; a failed call is thrown. */
  async call(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
    const id = (this.#last += 1)
    const { promise, resolve } = Promise.withResolvers<Message>()
    this.#waiting.set(id, resolve)
    this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } }))
    const { result, error } = await promise
    this.#waiting.delete(id)
    if (error !== undefined) throw new Error(`${name}: ${error.message}`)
    if (result?.isError === true) throw new Error(`${name}: ${result.content?.[0]?.text ?? 'failed'}`)
    return result?.structuredContent ?? {}
  }

  close(): void {
    this.#socket.close()
  }
}

/** The server is taken at its word: this is an example of a client, not of a check. */
function parse(text: string): Message {
  const value: unknown = JSON.parse(text)
  return isMessage(value) ? value : {}
}
const isMessage = (value: unknown): value is Message => typeof value === 'object' && value !== null
