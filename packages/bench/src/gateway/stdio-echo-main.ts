import { createInterface } from 'node:readline'
import { echoAnswer } from './echo-answer.ts'

/** The child that every proxy is put before: as thin as a stdio server can be, so that the proxies are measured and not it. */
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line.includes('"id"')) process.stdout.write(`${echoAnswer(line)}\n`)
})
process.stdin.on('end', () => process.exit(0))
