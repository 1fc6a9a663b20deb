import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findBehindShim } from './find-languages.ts'
import { findTools } from './find-tool.ts'
import { JAVA } from './java.ts'
import { PYTHON } from './python.ts'
import { RUST } from './rust.ts'
import { sourceName } from './toolchain.ts'

describe('the class of a Java source', () => {
  test.each([
    ['public class Solution { }', 'Solution'],
    ['import java.util.*;\npublic final class A { }\nclass Main { }', 'A'],
    ['class Main { public class Inner { } }', 'Main'],
    ['class Main {\n  public static class Inner { }\n  public class Other { }\n}', 'Main'],
    ['  public class Indented { }', 'Indented'],
    ['class Helper { }', 'Main'],
    ['', 'Main'],
  ])('%j is %s', (source, name) => {
    expect(sourceName(JAVA, source)).toBe(name)
  })

  test('is not asked of other languages', () => {
    expect(sourceName(PYTHON, 'public class X')).toBe('main')
  })
})

describe('finding a tool', () => {
  let home: string
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'parley-tools-'))
    const place = async (path: string): Promise<void> => {
      await mkdir(join(home, path, '..'), { recursive: true })
      await writeFile(join(home, path), '#!/bin/sh\n')
      await chmod(join(home, path), 0o755)
    }
    await place('.cargo/bin/rustup')
    await symlink('rustup', join(home, '.cargo/bin/rustc'))
    await place('.rustup/toolchains/stable-x/bin/rustc')
    await mkdir(join(home, '.rustup/toolchains/stable-x/lib'))
    await place('.pyenv/shims/python3')
    for (const version of ['3.9.1', '3.10.2']) {
      await place(`.pyenv/versions/${version}/bin/python3`)
      await mkdir(join(home, `.pyenv/versions/${version}/lib`))
    }
    await place('.local/bin/python3')
    await mkdir(join(home, '.local/lib'))
  })
  afterAll(() => rm(home, { recursive: true, force: true }))

  test('looks behind a shim, and shows a box no more than the toolchain', async () => {
    const found = await findTools(RUST, { searchPath: [join(home, '.cargo/bin')], nodePath: '' })
    const toolchain = join(home, '.rustup/toolchains/stable-x')
    expect(found[0]).toEqual({ path: join(toolchain, 'bin/rustc'), folder: join(toolchain, 'bin'), readable: [toolchain] })
  })

  test('takes the newest of several versions', async () => {
    const found = await findTools(PYTHON, { searchPath: [join(home, '.pyenv/shims')], nodePath: '' })
    expect(found.map(({ path }) => path.slice(home.length))).toEqual([
      '/.pyenv/shims/python3',
      '/.pyenv/versions/3.10.2/bin/python3',
      '/.pyenv/versions/3.9.1/bin/python3',
    ])
  })

  test('never shows a hidden folder of a home', async () => {
    const [found] = await findTools(PYTHON, { searchPath: [join(home, '.local/bin')], nodePath: '' })
    expect(found?.readable).toEqual([join(home, '.local/bin/python3')])
  })

  test('never shows the home of whoever runs the judge, wherever it lies', async () => {
    const bin = join(home, 'bin')
    await mkdir(bin)
    await mkdir(join(home, 'lib'))
    await writeFile(join(bin, 'python3'), '#!/bin/sh\n', { mode: 0o755 })
    const at = { searchPath: [bin], nodePath: '' }
    expect((await findTools(PYTHON, at))[0]?.readable).toEqual([home])
    expect((await findTools(PYTHON, { ...at, homeFolder: home }))[0]?.readable).toEqual([join(bin, 'python3')])
    expect((await findTools(PYTHON, { ...at, homeFolder: join(home, 'me') }))[0]?.readable).toEqual([join(bin, 'python3')])
  })

  test('finds what a shim stands for, whatever the tool', async () => {
    const found = await findBehindShim(join(home, '.pyenv/shims/python3'), {})
    expect(found.map(({ path, readable }) => [path, ...readable].map((file) => file.slice(home.length)))).toEqual([
      ['/.pyenv/versions/3.10.2/bin/python3', '/.pyenv/versions/3.10.2'],
      ['/.pyenv/versions/3.9.1/bin/python3', '/.pyenv/versions/3.9.1'],
    ])
    expect(await findBehindShim('/usr/bin/env', {})).toEqual([])
  })
})
