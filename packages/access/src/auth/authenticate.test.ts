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
  scopes: null,
  signInId: null,
  expiresAt: null,
}

const openTested = (byToken: (token: string) => Promise<Identity>) =>
  openAuthenticate({
    identify: { byToken, again: async () => undefined },
    meters: new MeterTable({ perSecond: 1, burst: 10 }, 10, () => 0),
    hears: () => true,
    now: () => 0,
    seen: () => undefined,
  })

test('a token is remembered once, however it is written in the header', async () => {
  const asked: string[] = []
  const authenticate = openTested(async (token) => {
    asked.push(token)
    return IDENTITY
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

test('who is forgotten while they are looked up is looked up again; others go on', async () => {
  let lookups = 0
  const credentials = { authorization: 'Bearer secret', remoteAddress: 'here', wire: 'http' } as const
  const others = openTested(async () => {
    lookups += 1
    others.forget(({ key }) => key === 'tok_2')
    return IDENTITY
  })
  expect(await others(credentials)).toMatchObject({ key: 'tok_1' })
  expect(lookups).toBe(1)
  const always = openTested(async () => {
    lookups += 1
    always.forget(({ key }) => key === 'tok_1')
    return IDENTITY
  })
  await expect(always(credentials)).rejects.toThrow('tokens are being changed faster')
  expect(lookups).toBe(6)
})
