// A model for the long runs, to be killed: answers by how far the conversation is, and notes every request in a file.
import { appendFileSync } from 'node:fs'
import { byTurn, openModelServer } from '@parley/agent/testing/model-server'
import * as z from 'zod'
import { ANSWERS } from './model-answers.ts'

const { port, notes } = z.object({ port: z.int(), notes: z.string() }).parse(JSON.parse(process.argv[2] ?? 'null'))
const answer = byTurn('responses', ANSWERS)
const server = await openModelServer({
  wire: 'responses',
  port,
  keptRequests: 1,
  answers: (request) => {
    appendFileSync(notes, 'request\n')
    return answer(request)
  },
})
// What the real service would have refused is a fault of ours.
setInterval(() => {
  for (const violation of server.violations) appendFileSync(notes, `violation: ${violation}\n`)
  if (server.violations.length > 0) process.exit(1)
}, 100).unref()
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`)
