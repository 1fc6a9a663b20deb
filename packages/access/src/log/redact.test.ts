import { expect, test } from 'vitest'
import { createLogger } from './logger.ts'
import { redactor } from './redact.ts'

const OPAQUE = `pat_${'a-_Z9'.repeat(9)}`
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c3IifQ.c2lnbmF0dXJl'

test.each([
  [`GET /api/mcp/ws?token=${OPAQUE}&x=1`, 'GET /api/mcp/ws?token=[redacted]&x=1'],
  ['GET /ws?access_token=whatever HTTP/1.1', 'GET /ws?access_token=[redacted] HTTP/1.1'],
  [`authorization: Bearer ${JWT}`, 'authorization: Bearer [redacted]'],
  ['Bearer some.opaque~token+/==', '[redacted]'],
  [`protocols: mcp, bearer.${OPAQUE}`, 'protocols: mcp, bearer.[redacted]'],
  [`"${JWT}"`, '"[redacted]"'],
  ['the literal s3cret-"value" here', 'the literal [redacted] here'],
  [
    'tok_01234567890123456789012345 and agt_01234567890123456789012345 are ids',
    'tok_01234567890123456789012345 and agt_01234567890123456789012345 are ids',
  ],
])('%s', (text, expected) => {
  expect(redactor(['s3cret-"value"'])(text)).toBe(expected)
})

test('a line of the log carries no secret, by field name and by shape', () => {
  const lines: string[] = []
  const log = createLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } })
  log.info({ password: 'hunter2', nested: { authorization: 'x' }, err: new Error(`bad ${OPAQUE}`) }, `seen ${JWT}`)
  const text = lines.join('')
  for (const secret of ['hunter2', OPAQUE, JWT, '"x"']) expect(text).not.toContain(secret)
  expect(JSON.parse(text)).toMatchObject({ level: 'info', password: '[redacted]', msg: 'seen [redacted]' })
})
