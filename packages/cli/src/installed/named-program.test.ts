import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { namedProgram } from './named-program.ts'

test('a relative or empty place on PATH is not looked at, and a path is', async () => {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'parley-find-')))
  try {
    writeFileSync(join(cwd, 'sh'), '#!/bin/sh\n', { mode: 0o755 })
    for (const first of ['', '.', '..', `../${cwd.split('/').at(-1)}`])
      expect(await namedProgram('sh', { env: { PATH: `${first}:/bin` }, cwd })).toMatchObject({ path: '/bin/sh' })
    await expect(namedProgram('sh', { env: { PATH: '.' }, cwd })).rejects.toThrow('there is no program sh')
    expect(await namedProgram('./sh', { env: { PATH: '/bin' }, cwd })).toMatchObject({ path: join(cwd, 'sh') })
  } finally {
    rmSync(cwd, { recursive: true })
  }
})
