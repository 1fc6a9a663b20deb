// What a command in the box of an agent calls tools with: `parley-agent list`, `parley-agent call TOOL JSON`. It is put into the box as it is,
// so it needs nothing but Node, and imports nothing of ours.
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

type Fields = Readonly<Record<string, unknown>>

const USAGE = `usage: parley-agent list [--json]
       parley-agent call TOOL [JSON|-]

Calls tools of the agent in whose box this runs, by the same rules. JSON are the arguments, - reads them from standard input.
PARLEY_AGENT_SOCKET says where, PARLEY_AGENT_TOKEN lets in; both end with the command that has them.`
const REVISION = '2025-11-25'
const [ENDED_WELL, FAILED, MISUSED] = [0, 1, 2]
const PAGES_MAX = 100

/** One connection, on which one request is made after the other. */
class Way {
  readonly #socket
  readonly #waiting = new Map<number, (message: Fields) => void>()
  #rest = ''
  #last = 0

  constructor(address: string, token: string) {
    const at = address.lastIndexOf(':')
    this.#socket = connect({ host: address.slice(0, at), port: Number(address.slice(at + 1)) })
    this.#socket.setEncoding('utf8')
    this.#socket.on('data', (chunk: string) => this.#hear(chunk))
    this.#socket.on('error', (error) => fail(`the agent cannot be reached: ${error.message}`))
    this.#socket.on('close', () => fail('the agent has ended the connection'))
    this.#socket.write(`${token}\n`)
  }

  async ask(method: string, params: object): Promise<Fields> {
    const id = ++this.#last
    const { promise, resolve } = Promise.withResolvers<Fields>()
    this.#waiting.set(id, resolve)
    this.#socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    const { result, error } = await promise
    return isFields(result) ? result : fail(reasonIn(error))
  }

  async greet(): Promise<void> {
    const clientInfo = { name: 'parley-agent', version: '1' }
    await this.ask('initialize', { protocolVersion: REVISION, capabilities: {}, clientInfo })
    this.#socket.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
  }

  #hear(chunk: string): void {
    const lines = (this.#rest + chunk).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) {
      const message: unknown = JSON.parse(line)
      if (!isFields(message)) continue
      // What belongs to no request of ours is why we are not let in.
      if (message['id'] === null) fail(reasonIn(message['error']))
      if (typeof message['id'] === 'number') this.#waiting.get(message['id'])?.(message)
    }
  }
}

async function list(way: Way, isJson: boolean): Promise<void> {
  const tools: unknown[] = []
  let cursor: unknown
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const page = await way.ask('tools/list', cursor === undefined ? {} : { cursor })
    const found: unknown = page['tools']
    if (Array.isArray(found)) tools.push(...found.map((tool: unknown) => tool))
    cursor = page['nextCursor']
    if (cursor === undefined) break
  }
  if (isJson) return say(JSON.stringify(tools, null, 2))
  say(tools.map(lineOf).join('\n'))
}

function lineOf(tool: unknown): string {
  if (!isFields(tool)) return ''
  const { name, description } = tool
  const about = typeof description === 'string' ? description : ''
  return `${String(name)}\t${about.split('\n', 1)[0] ?? ''}`
}

async function call(way: Way, name: string, args: object): Promise<number> {
  const result = await way.ask('tools/call', { name, arguments: args })
  const { structuredContent, content, isError } = result
  const texts = Array.isArray(content) ? content.map((part: unknown) => textOf(part)).join('\n') : ''
  const shown = structuredContent === undefined ? texts : JSON.stringify(structuredContent)
  if (isError !== true) {
    say(shown)
    return ENDED_WELL
  }
  process.stderr.write(`${texts === '' ? shown : texts}\n`)
  return FAILED
}

function textOf(part: unknown): string {
  return isFields(part) && typeof part['text'] === 'string' ? part['text'] : JSON.stringify(part)
}

function argumentsOf(given: string): object {
  try {
    const parsed: unknown = JSON.parse(given)
    if (isFields(parsed)) return parsed
  } catch {
    // Said below.
  }
  return misuse('JSON: the arguments are one JSON object, as in {"text":"hello"}')
}

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

const reasonIn = (error: unknown): string =>
  isFields(error) && typeof error['message'] === 'string' ? error['message'] : 'there was no answer'

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function misuse(words: string): never {
  process.stderr.write(`${words}\n`)
  process.exit(MISUSED)
}

function fail(words: string): never {
  process.stderr.write(`parley-agent: ${words}\n`)
  process.exit(FAILED)
}

async function main(): Promise<number> {
  const [verb, ...words] = process.argv.slice(2)
  if (verb === '--help' || verb === 'help') {
    say(USAGE)
    return ENDED_WELL
  }
  const { PARLEY_AGENT_SOCKET: address, PARLEY_AGENT_TOKEN: token } = process.env
  if (verb !== 'list' && verb !== 'call') misuse(USAGE)
  if (address === undefined || token === undefined)
    misuse('PARLEY_AGENT_SOCKET and PARLEY_AGENT_TOKEN are not set: commands of an agent have them')
  const [name, given = '{}'] = words
  if (verb === 'call' && name === undefined) misuse(USAGE)
  const args = verb === 'call' ? argumentsOf(given === '-' ? await text(process.stdin) : given) : {}
  const way = new Way(address, token)
  await way.greet()
  if (verb === 'call' && name !== undefined) return call(way, name, args)
  await list(way, name === '--json')
  return ENDED_WELL
}

process.exitCode = await main()
// What was said is whole before the connection, which would keep us, is left.
process.stdout.write('', () => process.exit())
