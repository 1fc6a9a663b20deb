import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { unseenPart } from './unseen-part.ts'

function scratch() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-unseen-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const program = (path: string, text = '#!/bin/sh\n'): string => {
    const whole = join(folder, path)
    mkdirSync(dirname(whole), { recursive: true })
    writeFileSync(whole, text)
    chmodSync(whole, 0o700)
    return whole
  }
  const link = (path: string, target: string): string => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    symlinkSync(target, join(folder, path))
    return join(folder, path)
  }
  return { folder, program, link }
}

test('a program in a folder that is shown, or of the system, lacks nothing', () => {
  const { folder, program } = scratch()
  expect(unseenPart(program('tool'), [folder])).toBeUndefined()
  expect(unseenPart('/bin/sh', [])).toBeUndefined()
  expect(unseenPart('/usr/bin/env', [])).toBeUndefined()
})

test('a program that npm installed is shown by its node_modules, one of a bin by what lies beside', () => {
  const { folder, program, link } = scratch()
  program('app/node_modules/pkg/index.js')
  const bin = link('app/node_modules/.bin/serve', '../pkg/index.js')
  const modules = join(folder, 'app/node_modules')
  expect(unseenPart(bin, [])).toEqual({ path: bin, part: 'program', folder: modules })
  expect(unseenPart(bin, [modules])).toBeUndefined()
  expect(unseenPart(bin, [join(modules, '.bin')])).toEqual({
    path: join(modules, 'pkg/index.js'),
    part: 'target',
    folder: modules,
  })
  const opt = program('opt/bin/tool')
  expect(unseenPart(opt, [])).toEqual({ path: opt, part: 'program', folder: join(folder, 'opt') })
})

test('of what is not shown nothing is told: neither whether it is there nor where its links lead', () => {
  const { folder, program, link } = scratch()
  const missing = join(folder, 'hidden/none')
  expect(unseenPart(missing, [])).toEqual({ path: missing, part: 'program', folder: join(folder, 'hidden') })
  program('elsewhere/secret')
  const secret = link('hidden/link', '../elsewhere/secret')
  const seen = link('shown/tool', '../hidden/link')
  expect(unseenPart(secret, [])).toMatchObject({ path: secret, part: 'program' })
  expect(unseenPart(seen, [join(folder, 'shown')])).toMatchObject({ path: secret, part: 'target' })
})

test('a folder that is shown by a link shows what is below it', () => {
  const { folder, program, link } = scratch()
  program('real/tool')
  const shown = link('shown', 'real')
  expect(unseenPart(join(shown, 'tool'), [shown])).toBeUndefined()
  expect(unseenPart(join(shown, 'tool'), [join(folder, 'real')])).toMatchObject({ path: join(shown, 'tool'), part: 'program' })
})

test('a script whose interpreter is not shown cannot be started', () => {
  const { folder, program } = scratch()
  const interpreter = program('runtime/bin/run')
  const script = program('scripts/hello', `#! ${interpreter} -x\n`)
  expect(unseenPart(script, [join(folder, 'scripts')])).toEqual({
    path: interpreter,
    part: 'interpreter',
    folder: join(folder, 'runtime'),
  })
  expect(unseenPart(script, [folder])).toBeUndefined()
})
