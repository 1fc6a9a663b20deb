import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '@parley/store'
import { TokenId } from '@parley/protocol'
import { expect, test } from 'vitest'
import { Scratch } from '../../fixture/parley.ts'
import { commandsHere } from '../../fixture/run-here.ts'

test('a new password ends the tokens of a user, unless --keep-tokens is given', async () => {
  await using scratch = new Scratch()
  const here = commandsHere(scratch)
  const at = ['--data', scratch.data]
  await here.json(['user', 'add', 'bob', ...at])
  const { id } = await here.json(['token', 'create', '--role', 'user', '--user', 'bob', ...at])
  const revokedAt = async (): Promise<string | null> => {
    const { items } = await here.json(['token', 'list', ...at])
    return items.find((token: { id: string }) => token.id === id).revoked_at
  }
  const file = join(scratch.folder, 'password')
  writeFileSync(file, 'a long password\n')
  await here.json(['user', 'passwd', 'bob', '--keep-tokens', '--password-file', file, ...at])
  expect(await revokedAt()).toBeNull()
  const told = await here.run(['user', 'passwd', 'bob', '--password-file', file, ...at])
  expect(told.out).toContain('tokens of that user have ended, and tokens of their agents; --keep-tokens would')
  expect(await revokedAt()).toEqual(expect.any(String))
})

test('a token is made with scopes, once each, and lists and the token itself tell them; others take none', async () => {
  await using scratch = new Scratch()
  const here = commandsHere(scratch)
  const at = ['--data', scratch.data]
  await here.json(['user', 'add', 'bob', ...at])
  const forBob = ['token', 'create', '--role', 'user', '--user', 'bob']
  const made = await here.json([...forBob, '--scope', 'read', '--scope', 'jobs', '--scope', 'read', ...at])
  expect(made).toEqual({
    token: expect.any(String),
    id: expect.any(String),
    role: 'user',
    expires_at: null,
    scopes: ['read', 'jobs'],
  })
  expect((await here.run([...forBob, '--scope', 'jobs', ...at])).err).toContain(
    "a user's token for bob with the scope jobs, good until",
  )
  await here.json([...forBob, ...at])
  await here.json(['token', 'create', '--role', 'judge', '--name', 'tower', ...at])
  const { items } = await here.json(['token', 'list', ...at])
  expect(items.map(({ scopes }: { scopes: unknown }) => scopes)).toEqual([null, null, ['jobs'], ['jobs', 'read']])
  const { out } = await here.run(['token', 'list', ...at])
  expect(out).toMatch(/judge +tower +until/)
  expect(out).toMatch(/user +bob +all +until/)
  expect(out).toMatch(/user +bob +jobs read +until/)
  const wrong = [
    [['token', 'create', '--role', 'judge', '--name', 'j', '--scope', 'jobs'], 2, '--scope goes with --role user alone'],
    [[...forBob, '--scope', 'everything'], 2, '--scope'],
    [[...forBob, '--scope', 'admin'], 1, 'the scope admin is for tokens of admins, and bob is none'],
  ] as const
  for (const [args, code, words] of wrong)
    expect(await here.run([...args, ...at])).toMatchObject({ code, err: expect.stringContaining(words) })
})

test('a token that a token made is listed with it, and goes with it', async () => {
  await using scratch = new Scratch()
  const here = commandsHere(scratch)
  const at = ['--data', scratch.data]
  await here.json(['user', 'add', 'bob', ...at])
  const maker = await here.json(['token', 'create', '--role', 'user', '--user', 'bob', '--scope', 'jobs', ...at])
  const made: string[] = []
  for (const hash of ['one', 'other']) made.push(await madeWith(scratch, { maker: maker.id, hash }))
  const listed = await here.run(['token', 'list', ...at])
  for (const id of made) expect(listed.out).toMatch(new RegExp(`^${id} .* ${maker.id}$`, 'm'))
  expect((await here.run(['token', 'revoke', maker.id, ...at])).out).toBe(
    `${maker.id} is revoked, and so are the 2 tokens that were made with it.\n`,
  )
  expect((await here.run(['token', 'revoke', maker.id, ...at])).out).toBe(`${maker.id} was revoked already.\n`)
  const { items } = await here.json(['token', 'list', ...at])
  expect(items).toMatchObject([{ revoked_at: expect.any(String) }, { revoked_at: expect.any(String) }, {}])
})

/** As `token.create` does with a token that has scopes. */
async function madeWith(scratch: Scratch, { maker, hash }: { maker: string; hash: string }): Promise<string> {
  const store = await openStore({ url: `sqlite:${join(scratch.data, 'parley.db')}` })
  try {
    const madeBy = TokenId.parse(maker)
    const userId = (await store.tokens.byId(madeBy))?.userId ?? undefined
    const token = { hash, role: 'user', name: 'made', scopes: ['jobs'], madeBy } as const
    return (await store.tokens.add({ ...token, ...(userId && { userId }) })).id
  } finally {
    await store.close()
  }
}

test('the identity of a user is set, shown and taken away, and belongs to one', async () => {
  await using scratch = new Scratch()
  const here = commandsHere(scratch)
  const at = ['--data', scratch.data]
  for (const name of ['ada', 'bob']) await here.json(['user', 'add', name, ...at])
  const given = ['--issuer', 'https://id.example', '--subject', 'a-1']
  const identity = { issuer: 'https://id.example', subject: 'a-1' }
  expect(await here.json(['user', 'set-identity', 'ada', ...given, ...at])).toMatchObject({ user: { username: 'ada', identity } })
  const { items } = await here.json(['user', 'list', ...at])
  expect(items).toMatchObject([
    { username: 'ada', identity },
    { username: 'bob', identity: null },
  ])
  expect(await here.run(['user', 'set-identity', 'bob', ...given, ...at])).toMatchObject({ code: 1 })
  for (const wrong of [[], ['--issuer', 'x'], ['--remove', ...given]])
    expect(await here.run(['user', 'set-identity', 'ada', ...wrong, ...at])).toMatchObject({ code: 2 })
  expect(await here.json(['user', 'set-identity', 'ada', '--remove', ...at])).toMatchObject({ user: { identity: null } })
})
