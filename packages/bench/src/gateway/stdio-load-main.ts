import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { echoLine, LoadLoop } from './load-loop.ts'
import { STDIO_ECHO } from './targets.ts'

/** The stdio child called directly, with nothing in between: what every way to it is measured against. */
const { values } = parseArgs({
  options: { core: { type: 'string' }, connections: { type: 'string' }, seconds: { type: 'string' } },
})
const [pin, ...args] = ['taskset', '-c', values.core ?? '0', ...STDIO_ECHO]
const child = spawn(pin ?? '', args, { stdio: ['pipe', 'pipe', 'inherit'] })
const sentAt = new Map<number, number>()
const ID = /"id":(\d+)/
let id = 100
const next = (): void => {
  id += 1
  sentAt.set(id, performance.now())
  child.stdin.write(`${echoLine(id)}\n`)
}
const lines = createInterface({ input: child.stdout })
/** Once, so that its start is not counted. */
await new Promise<void>((done) => {
  lines.once('line', () => done())
  child.stdin.write(`${echoLine(1)}\n`)
})
const loop = new LoadLoop(Number(values.seconds ?? 1))
await new Promise<void>((done) => {
  let open = Number(values.connections ?? 1)
  lines.on('line', (line) => {
    const answered = Number(ID.exec(line)?.[1])
    const sent = sentAt.get(answered)
    sentAt.delete(answered)
    if (sent === undefined) loop.errors += 1
    else loop.answered(sent, line)
    if (!loop.isOver) return next()
    open -= 1
    if (open === 0) done()
  })
  for (let started = 0, { connections } = values; started < Number(connections ?? 1); started += 1) next()
})
loop.print()
child.stdin.end()
process.exit(0)
