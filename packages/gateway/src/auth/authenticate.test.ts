import { MeterTable } from '@parley/rpc'
import { expect, test } from 'vitest'
import { openAuthenticate } from './authenticate.ts'
import type { Identity } from './identify.ts'

const IDENTITY: Identity = {
  key: 'tok_1',
  role: 'judge',
  admin: false,
  name: 'judge',
  agentId: null,
  identity: null,
  userId: null,
  username: null,
  tokenId: null,
  signInId: null,
  expiresAt: null,
}

test('a token is remembered once, however it is written in the header', async () => {
  const asked: string[] = []
  const authenticate = openAuthenticate({
    identify: {
      byToken: async (token) => {
        asked.push(token)
        return IDENTITY
      },
      again: async () => undefined,
    },
    meters: new MeterTable({ perSecond: 1, burst: 10 }, 10, () => 0),
    hears: () => true,
    now: () => 0,
    seen: () => undefined,
  })
  const as = (authorization: string) => authenticate({ authorization, remoteAddress: 'here', wire: 'http' })
  const spellings = ['Bearer secret', 'bearer secret', 'BEARER   secret', `bEaReR${' '.repeat(4_000)}secret`]
  for (const spelling of spellings) expect(await as(spelling)).toMatchObject({ key: 'tok_1' })
  expect(asked).toEqual(['secret'])
  authenticate.forget(() => true)
  await Promise.all(spellings.map(async (spelling) => as(spelling)))
  expect(asked).toEqual(['secret', 'secret'])
  expect(() => as('Basic secret')).toThrow('is not "Bearer <token>"')
})
