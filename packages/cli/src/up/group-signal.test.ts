import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { gone } from '../fixture/gone.ts'
import { MANY_PROCESSES, Scratch, childrenOf } from '../fixture/parley.ts'

/** Makes this Node look to the launcher like one that cannot replace itself, such as 20. */
const OLD_NODE = [
  process.execPath,
  `--import=data:text/javascript,${encodeURIComponent(`Object.defineProperty(process.versions,'node',{value:'20.0.0'});delete process.execve`)}`,
]
const NODES: readonly (readonly [string, readonly string[]])[] = [
  ['this Node', [process.execPath]],
  ['an old Node', OLD_NODE],
  ...foreignNodes(),
]

test.for(NODES.flatMap(([node, command]) => (['SIGTERM', 'SIGINT'] as const).map((signal) => [signal, node, command] as const)))(
  '%s to the whole group, without a terminal, ends an instance under %s in order and leaves nothing',
  MANY_PROCESSES,
  async ([signal, , node]) => {
    await using scratch = new Scratch()
    const up = await startUp(scratch, node, [])
    process.kill(-up.pid, signal)
    expect(await up.exited).toBe(0)
    expect(up.said()).not.toContain('ended (')
    expect(leftIn(scratch)).toEqual([])
    for (const pid of up.tree) await gone(pid)
  },
)

test('SIGTERM to every process of an instance, as systemd sends it, ends it in order too', MANY_PROCESSES, async () => {
  await using scratch = new Scratch()
  const up = await startUp(scratch, OLD_NODE, [])
  for (const pid of up.tree) sendIfThere(pid, 'SIGTERM')
  expect(await up.exited).toBe(0)
  expect(leftIn(scratch)).toEqual([])
  for (const pid of up.tree) await gone(pid)
})

test('a signal to the launcher alone ends it in order', MANY_PROCESSES, async () => {
  await using scratch = new Scratch()
  const up = await startUp(scratch, OLD_NODE, ['--no-judge'])
  process.kill(up.pid, 'SIGTERM')
  expect(await up.exited).toBe(0)
  expect(leftIn(scratch)).toEqual([])
})

test.for([['the group', -1] as const, ['the launcher alone', 1] as const])(
  'a second signal to %s still forces it',
  MANY_PROCESSES,
  async ([, sign]) => {
    await using scratch = new Scratch()
    const up = await startUp(scratch, OLD_NODE, ['--no-judge'])
    const gateway = up.tree.at(-1) ?? 0
    // A stopped process cannot end in order, so only force is left.
    process.kill(gateway, 'SIGSTOP')
    process.kill(sign * up.pid, 'SIGTERM')
    await expect.poll(() => up.said()).toContain('once more forces it')
    process.kill(sign * up.pid, 'SIGTERM')
    await up.exited
    await gone(gateway)
  },
)

/** As systemd does: one that has ended because of the signals before its own is not a fault. */
function sendIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/** Other versions of Node on this machine that the launcher starts a child from. */
function foreignNodes(): [string, string[]][] {
  const paths = [...new Set(['/usr/bin/node', '/usr/local/bin/node'])].filter((path) => existsSync(path))
  return paths.flatMap((path): [string, string[]][] => {
    const version = execFileSync(path, ['--version'], { encoding: 'utf8' }).trim()
    return /^v(18|20|22)\./.test(version) ? [[`Node ${version}`, [path]]] : []
  })
}

interface Up {
  readonly pid: number
  /** Every process of the instance, the launcher first, each before its children. */
  readonly tree: readonly number[]
  readonly exited: Promise<number | null>
  said(): string
}

/** An instance in a process group of its own, with nothing of a terminal. */
async function startUp(scratch: Scratch, node: readonly string[], more: readonly string[]): Promise<Up> {
  const { command, env } = scratch.launch(['up', '--port', '0', '--data', scratch.data, '--json', ...more])
  const [program = '', ...args] = [...node, ...command.slice(1)]
  const child: ChildProcess = spawn(program, args, {
    cwd: scratch.folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const { pid = 0 } = child
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text))
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const lines = createInterface({ input: child.stdout ?? process.stdin })
  await new Promise<void>((resolve) => lines.once('line', () => resolve()))
  if (!more.includes('--no-judge')) await expect.poll(() => judgeFolders(scratch)).toHaveLength(1)
  return { pid, tree: treeOf(pid), exited, said: () => said }
}

function treeOf(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(treeOf)]
}

function judgeFolders(scratch: Scratch): string[] {
  const folder = join(scratch.data, 'judge')
  return existsSync(folder) ? readdirSync(folder).filter((name) => /^judge-\w+$/.test(name)) : []
}

/** What an instance that ended in order has removed. */
function leftIn(scratch: Scratch): string[] {
  const files = ['parley.db-wal', 'parley.db-shm', 'admin.sock'].filter((name) => existsSync(join(scratch.data, name)))
  return [...files, ...judgeFolders(scratch)]
}
