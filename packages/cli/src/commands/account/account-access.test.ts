import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
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
  expect(told.out).toContain('Sign-ins, links and tokens of that user have ended.')
  expect(await revokedAt()).toEqual(expect.any(String))
})

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
