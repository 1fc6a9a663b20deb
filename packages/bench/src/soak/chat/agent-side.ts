import { setTimeout as wait } from 'node:timers/promises'
import { isJsonObject, type JsonObject } from '@parley/protocol'
import { type Client, connectClient, httpTransport } from '@parley/rpc'
import * as z from 'zod'
import type { Tally } from '../../soak.ts'
import type { AgentsWorld, AgentsWorldOptions, SoakAgent } from '../agents/agents-world.ts'
import type { SeededRandom } from '../random.ts'
import type { KeptMessage } from './check-chat.ts'
import type { Say } from './speaker.ts'

const CONNECT_MS = 30_000
const CALL_MS = 30_000
const READ_WAIT_MS = 2_000
const RETRY_MS = 150

const Message = z.object({ id: z.number(), text: z.string() })
const Posted = z.object({ message: Message })
const Page = z.object({ messages: z.array(Message), last_id: z.number() })

/**
 * The agent's side of a chat: what it says, where it does, and what it was told. What fills it may be a program that comes with the agent's token, or
 * a local agent, whose model is told: then the texts are those that the server of the model has received.
 */
export interface AgentSide {
  /** Says something in the agent's name. Left out: it says nothing. */
  readonly say?: Say
  /** Which messages it is to be told. */
  hears(message: KeptMessage): boolean
  /** The texts that it was told so far, in the order in which it was told them. */
  heard(): readonly string[]
  start(): void
  /** What went wrong last, for whoever wonders why it is late. */
  lastError(): string
  close(): Promise<void>
}

/** What a side is to be before there is a world for it, and what the world has to be for it. */
export interface SidePlan extends AsyncDisposable {
  readonly world: Pick<AgentsWorldOptions, 'env' | 'makeAgent'>
  open(parts: AgentSideParts): AgentSide
}

export interface AgentSideParts {
  readonly world: AgentsWorld
  readonly agent: SoakAgent
  readonly random: SeededRandom
  readonly tally: Tally
}

/** Somebody else's program needs nothing of the world but a token. */
export const planToken = (): Promise<SidePlan> =>
  Promise.resolve({ world: {}, open: (parts) => new TokenSide(parts), [Symbol.asyncDispose]: () => Promise.resolve() })

/** A program that comes with the agent's token: it reads on from the last message that it knows, over any gateway. */
class TokenSide implements AgentSide {
  readonly #parts: AgentSideParts
  readonly #ended = new AbortController()
  readonly #heard: string[] = []
  #place = 0
  #lastError = ''
  #speaking: Client | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(parts: AgentSideParts) {
    this.#parts = parts
  }

  hears(): boolean {
    return true
  }
  heard(): readonly string[] {
    return this.#heard
  }
  lastError(): string {
    return this.#lastError
  }

  start(): void {
    this.#running = this.#read()
  }

  async close(): Promise<void> {
    this.#ended.abort()
    await this.#running
    await this.#speaking?.close().catch(() => undefined)
  }

  /** `chat_post` has no key: one that was not answered is not sent again. */
  readonly say: Say = async (text) => {
    for (;;) {
      const client = await this.#speakingClient()
      if (client === undefined) {
        await wait(RETRY_MS)
        continue
      }
      try {
        const { message } = Posted.parse(await own(client, 'chat_post', { text }))
        this.#parts.tally.count('agent: acknowledged')
        return message.id
      } catch (error) {
        this.#failed(error)
        this.#speaking = undefined
        await client.close().catch(() => undefined)
        this.#parts.tally.count('agent: not known whether it was said')
        return undefined
      }
    }
  }

  async #speakingClient(): Promise<Client | undefined> {
    this.#speaking ??= await this.#connect()
    return this.#speaking
  }

  async #read(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      const client = await this.#connect()
      if (client === undefined) {
        await wait(RETRY_MS)
        continue
      }
      try {
        while (!this.#ended.signal.aborted) await this.#page(client)
      } catch (error) {
        this.#failed(error)
        this.#parts.tally.count('agent: reads that failed')
        await wait(RETRY_MS)
      }
      await client.close().catch(() => undefined)
    }
  }

  async #page(client: Client): Promise<void> {
    const page = Page.parse(await own(client, 'chat_read_since', { after: this.#place, wait_ms: READ_WAIT_MS }))
    for (const { id, text } of page.messages) {
      if (id !== this.#place + 1) this.#parts.tally.problem(`the agent was told ${id} after ${this.#place}`)
      this.#place = id
      this.#heard.push(text)
    }
  }

  async #connect(): Promise<Client | undefined> {
    const { world, agent, random } = this.#parts
    const transport = httpTransport({ url: world.mcp(random.between(0, world.gateways - 1)), token: agent.token })
    const clientInfo = { name: 'soak', version: '1' }
    return connectClient(transport, { clientInfo, era: 'modern', signal: AbortSignal.timeout(CONNECT_MS) }).catch(
      (error: unknown) => {
        this.#failed(error)
        return undefined
      },
    )
  }

  #failed(error: unknown): void {
    this.#lastError = error instanceof Error ? error.message : String(error)
  }
}

/** What one of the compositor's own tools answers. An answer that is an error is thrown, too. */
async function own(client: Client, name: string, args: JsonObject): Promise<JsonObject> {
  const { structuredContent, isError, content } = await client.callToolRaw(name, args, { timeoutMs: CALL_MS })
  if (isError === true || !isJsonObject(structuredContent)) throw new Error(`${name}: ${JSON.stringify(content)}`)
  return structuredContent
}
