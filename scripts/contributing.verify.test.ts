import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { copyProject } from './testing/copy.ts'
import { type Act, applyDiff, readSection } from './testing/guide.ts'
import type { Scratch } from './testing/scratch.ts'

const root = dirname(import.meta.dirname)
const guide = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
/** Checks and tests of the whole copy: minutes on a crowded machine. */
const STEPS_LIMIT_MS = 600_000

let copy: Scratch

// The second section goes on with what the first one made.
describe('the guide', { shuffle: false }, () => {
  beforeAll(() => {
    copy = copyProject(root)
  }, STEPS_LIMIT_MS)
  afterAll(() => copy[Symbol.dispose]())

  test(
    '"Add a tool" works as it is written: the tool is declared, described, and answers on a real gateway',
    { timeout: STEPS_LIMIT_MS },
    () => {
      for (const act of readSection(guide, 'Add a tool')) perform(act)
      expect(read('docs/protocol/reference.md')).toContain('| [`user.count`](#usercount) | admin | read, admin | reads |')
      expect(existsSync(join(copy.root, 'docs/protocol/tools/user.count.output.schema.json'))).toBe(true)
    },
  )

  test('"Add a resource" works as it is written, from the URI to the subscriber', { timeout: STEPS_LIMIT_MS }, () => {
    for (const act of readSection(guide, 'Add a resource')) perform(act)
    expect(read('docs/protocol/reference.md')).toContain('| `resource://users/count` | admin | read, admin | application/json |')
  })

  test('"Add a tool of agents" works as it is written: agents find it at their compositor', { timeout: STEPS_LIMIT_MS }, () => {
    for (const act of readSection(guide, 'Add a tool of agents')) perform(act)
    expect(existsSync(join(copy.root, 'docs/protocol/tools/resources_count.output.schema.json'))).toBe(true)
  })

  test('"Add a resource of agents" works as it is written, from the URI to the subscriber', { timeout: STEPS_LIMIT_MS }, () => {
    for (const act of readSection(guide, 'Add a resource of agents')) perform(act)
    expect(read('docs/protocol/reference.md')).toContain('`resource://agents/{id}/markers`')
  })
})

function perform(act: Act): void {
  switch (act.kind) {
    case 'create':
      if (existsSync(join(copy.root, act.path))) throw new Error(`${act.path} is there already`)
      copy.write(act.path, act.text)
      break
    case 'change':
      copy.write(act.path, applyDiff(read(act.path), act.diff))
      break
    case 'run':
      run(act.command)
  }
}

/** Runs a command of the guide as a reader would, in the copy. */
function run(command: string): void {
  const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|npm_|NODE_OPTIONS$|NODE_ENV$|TEST$)/i.test(name))
  const { status, stdout, stderr } = spawnSync(command, {
    cwd: copy.root,
    env: Object.fromEntries(own),
    shell: true,
    encoding: 'utf8',
  })
  expect(status, `${command}\n${stdout}\n${stderr}`).toBe(0)
}

function read(path: string): string {
  return readFileSync(join(copy.root, path), 'utf8')
}
