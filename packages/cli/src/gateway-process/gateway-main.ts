import { randomBytes } from 'node:crypto'
import { asCommandError } from '../failure.ts'
import { type GatewayWord, parsePlan } from './plan.ts'
import { type ServedGateway, serveGateway } from './serve-gateway.ts'

// The gateway process of `parley up`. Its stdin is its lifeline: one line with the plan, then nothing, and when it ends,
// because the supervisor asks for it or is dead, this process ends too.

const GRACE_MS = 5_000
/** If closing hangs, the process still ends. */
const LAST_RESORT_MS = 8_000
const PLAN_BYTES = 1024 * 1024

let served: ServedGateway | undefined
let isEnding = false
let plan = ''

const say = (word: GatewayWord): void => void process.stdout.write(`${JSON.stringify(word)}\n`)

async function begin(line: string): Promise<void> {
  try {
    const opened = await serveGateway(parsePlan(line), {
      now: Date.now,
      random: randomBytes,
      err: (text) => void process.stderr.write(text),
    })
    served = opened
    if (isEnding) return await end()
    say({ ready: opened.ready })
  } catch (error) {
    const { code, message, hint } = asCommandError(error)
    say({ failed: { code, message, ...(hint === undefined ? {} : { hint }) } })
    process.exitCode = 1
    process.stdin.destroy()
    setTimeout(() => process.exit(1), LAST_RESORT_MS).unref()
  }
}

async function end(): Promise<void> {
  isEnding = true
  setTimeout(() => process.exit(1), LAST_RESORT_MS).unref()
  const opened = served
  served = undefined
  await opened?.close(GRACE_MS)
  process.stdin.destroy()
}

// Whoever read our output may be dead already; that is noticed by the end of stdin.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})
process.stdin.setEncoding('utf8')
process.stdin.on('data', (text: string) => {
  if (plan.endsWith('\n')) return
  plan += text
  if (plan.endsWith('\n')) void begin(plan)
  else if (plan.length > PLAN_BYTES) process.exit(1)
})
process.stdin.on('end', () => void end())
process.on('SIGTERM', () => void end())
