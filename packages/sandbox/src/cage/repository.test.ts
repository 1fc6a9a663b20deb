import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BoxProfile, RunOutcome, Sandbox } from '../index.ts'
import { ROOMY, type Scratch, scratch, shell, textOf } from '../testing/scratch.ts'

/** Only root can have the first. */
const TIERS = (['root', 'user-namespaces'] as const).slice(process.getuid?.() === 0 ? 0 : 1)
let from: Scratch
let place: string
beforeAll(async () => {
  from = await scratch()
  place = realpathSync(mkdtempSync('/var/tmp/parley-repository-'))
})
afterAll(async () => {
  rmSync(place, { recursive: true, force: true })
  await from[Symbol.asyncDispose]()
})

const errors = (outcome: RunOutcome): string => Buffer.from(outcome.stderr.bytes).toString()
const at = (folder: string): BoxProfile => ({ kind: 'workspace', folder, writable: true })
const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd, encoding: 'utf8', stdio: 'pipe' })
function made(name: string): string {
  const folder = join(place, name)
  mkdirSync(folder)
  return folder
}

describe.each(TIERS)('a repository in the tier %s', (tier) => {
  let sandbox: Sandbox
  beforeAll(async () => {
    sandbox = await from.open({ tier })
  })

  test('is read-only as a whole, and git can be asked about it', async () => {
    const folder = made(`whole-${tier}`)
    git(folder, 'init', '-q')
    git(folder, 'commit', '-q', '--allow-empty', '-m', 'one')
    const before = readFileSync(join(folder, '.git/config'), 'utf8')
    await using box = await sandbox.openBox(at(folder))
    const ways = [
      'echo /tmp > .git/commondir',
      'git config include.path ../evil',
      'git config remote.x.uploadpack evil',
      'echo "[core]" > .git/config.worktree',
      'echo x > .git/hooks/pre-commit',
      'echo x > .git/info/attributes',
      'mv .git other',
      'rm -rf .git',
      'git init -q',
    ]
    const outcome = await box.run(shell(`${ways.map((way) => `(${way})`).join('; ')}; git log --format=%s; git status --short`))
    expect(textOf(outcome)).toBe('one\n')
    expect(errors(outcome).match(/Read-only|busy/gi)?.length).toBeGreaterThanOrEqual(ways.length - 1)
    expect(readFileSync(join(folder, '.git/config'), 'utf8')).toBe(before)
    expect(readdirSync(join(folder, '.git'))).not.toEqual(expect.arrayContaining(['commondir']))
  })

  test('cannot be made where there is none, and nothing of that is left', async () => {
    const folder = made(`none-${tier}`)
    const one = await sandbox.openBox(at(folder))
    const two = await sandbox.openBox(at(folder))
    const script = 'git init -q; mkdir -p .git/hooks; echo x > .git/config; rmdir .git; mv .git x; ls -A .git | wc -l'
    expect(textOf(await one.run(shell(script)))).toBe('0\n')
    await one.close()
    // As long as somebody works there it stays.
    expect(statSync(join(folder, '.git')).isDirectory()).toBe(true)
    expect(textOf(await two.run(shell(script)))).toBe('0\n')
    await two.close()
    expect(readdirSync(folder)).toEqual([])
  })

  test('a helper that is killed leaves an empty folder, which the next one removes', async () => {
    const folder = made(`killed-${tier}`)
    const program = await sandbox.start?.(at(folder), { argv: ['/bin/sh', '-c', 'echo up; sleep 1000'], limits: ROOMY })
    if (program === undefined) throw new Error('this tier holds no live program')
    await once(program.stdout, 'data')
    process.kill(program.pid, 'SIGKILL')
    await program.ended
    expect(readdirSync(join(folder, '.git'))).toEqual([])
    await (await sandbox.openBox(at(folder))).close()
    expect(readdirSync(folder)).toEqual([])
  })

  test('one that somebody makes meanwhile stays theirs', async () => {
    const folder = made(`meanwhile-${tier}`)
    const box = await sandbox.openBox(at(folder))
    git(folder, 'init', '-q')
    expect(errors(await box.run(shell('echo x >> .git/config')))).toMatch(/Read-only/)
    await box.close()
    expect(existsSync(join(folder, '.git/HEAD'))).toBe(true)
  })

  test('of a linked working tree is shown, and not written; one that only pretends is not', async () => {
    const main = made(`main-${tier}`)
    git(main, 'init', '-q')
    git(main, 'commit', '-q', '--allow-empty', '-m', 'linked')
    const tree = join(place, `tree-${tier}`)
    git(main, 'worktree', 'add', '-q', tree)
    await using box = await sandbox.openBox(at(tree))
    const outcome = await box.run(
      shell(
        `git -c safe.directory='*' log --format=%s; echo x > .git; echo x >> ${main}/.git/config; echo x > ${main}/.git/worktrees/x`,
      ),
    )
    expect([textOf(outcome), errors(outcome).match(/Read-only|Permission denied/g)?.length]).toEqual(['linked\n', 3])
    const pretends = made(`pretends-${tier}`)
    writeFileSync(join(pretends, '.git'), `gitdir: ${main}/.git\n`)
    await using other = await sandbox.openBox(at(pretends))
    expect(textOf(await other.run(shell(`ls -A ${main}; cat ${main}/.git/config`)))).toBe('')
  })

  test('that is forged shows nothing beyond the working folder', async () => {
    const base = made(`forged-${tier}`)
    for (const path of ['archive/work', 'archive/y']) mkdirSync(join(base, path), { recursive: true })
    writeFileSync(join(base, 'private'), 'told')
    writeFileSync(join(base, 'archive/work/.git'), 'gitdir: ../y\n')
    writeFileSync(join(base, 'archive/y/gitdir'), '../work/.git\n')
    writeFileSync(join(base, 'archive/y/commondir'), '../..\n')
    for (const writable of [true, false]) {
      await using box = await sandbox.openBox({ kind: 'workspace', folder: join(base, 'archive/work'), writable })
      expect(textOf(await box.run(shell(`cat ${base}/private; ls -A ${base} ..`)))).toBe(`..:\nwork\n\n${base}:\narchive\n`)
    }
  })

  test('whose folder lies in the working folder is read-only there', async () => {
    const folder = made(`inside-${tier}`)
    mkdirSync(join(folder, 'deep'))
    git(folder, 'init', '-q', '--separate-git-dir', join(folder, 'deep/store'))
    await using box = await sandbox.openBox(at(folder))
    const before = readFileSync(join(folder, 'deep/store/config'), 'utf8')
    const outcome = await box.run(shell('echo x >> deep/store/config; mv deep other; rm .git; git status --short'))
    expect(errors(outcome).match(/Read-only|busy/g)?.length).toBe(3)
    expect(readFileSync(join(folder, 'deep/store/config'), 'utf8')).toBe(before)
  })

  test('behind a link is refused', async () => {
    const folder = made(`link-${tier}`)
    symlinkSync('elsewhere', join(folder, '.git'))
    await expect(sandbox.openBox(at(folder))).rejects.toThrow(/\.git is a link/)
  })
})
