// Runs a program so many times with nothing in between, on so many lanes, and prints how long it took. The floor of a judge.
import { spawn } from 'node:child_process'
import { openSync, closeSync } from 'node:fs'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { runs: { type: 'string' }, lanes: { type: 'string' }, input: { type: 'string' } },
})
const [file, ...args] = positionals
if (file === undefined || values.input === undefined) throw new Error('bare-main --runs N --lanes N --input FILE -- PROGRAM …')
const { input } = values
const runs = Number(values.runs ?? 1)
const lanes = Number(values.lanes ?? 1)
const times: number[] = []

const started = performance.now()
let left = runs
await Promise.all(
  Array.from({ length: lanes }, async () => {
    while (left > 0) {
      left -= 1
      await once(file)
    }
  }),
)
const totalMs = performance.now() - started
process.stdout.write(`${JSON.stringify({ totalMs, times, residentMb: Math.round(process.memoryUsage().rss / 1e6) })}\n`)

function once(program: string): Promise<void> {
  const begun = performance.now()
  const stdin = openSync(input, 'r')
  const child = spawn(program, args, { stdio: [stdin, 'pipe', 'pipe'], env: {} })
  closeSync(stdin)
  let said = 0
  child.stdout?.on('data', (chunk: Buffer) => (said += chunk.length))
  return new Promise((done, fail) => {
    child.once('error', fail)
    child.once('close', (code) => {
      times.push(performance.now() - begun)
      if (code === 0 && said > 0) done()
      else fail(new Error(`${program} ended with ${code} and said ${said} bytes`))
    })
  })
}
