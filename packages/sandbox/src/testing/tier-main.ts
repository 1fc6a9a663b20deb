// Run as an ordinary user: opens the sandbox there and prints what came of a few runs, one JSON line.
import { readFileSync, readdirSync, realpathSync } from 'node:fs'
import { openSandbox, type RunLimits } from '../index.ts'
import { ROOMY } from './scratch.ts'

const [cacheFolder = '', runFolder = '', tier = '', programs = ''] = process.argv.slice(2)
const sandbox = await openSandbox({
  driver: 'cage',
  cacheFolder,
  runFolder,
  ...(tier === 'landlock' || tier === 'user-namespaces' || tier === 'root' ? { tier } : {}),
})
const node = realpathSync(process.execPath)
await using box = await sandbox.openBox({ kind: 'judge' })

async function run(
  name: string,
  words: readonly string[],
  limits: Partial<RunLimits> = {},
): Promise<{ status: string; text: string }> {
  const outcome = await box.run({
    argv: [`./${name}`, ...words],
    files: [{ name, from: { path: `${programs}/${name}` }, executable: true }],
    limits: { ...ROOMY, ...limits },
    stdin: { kind: 'bytes', bytes: Buffer.from('12345') },
  })
  return { status: outcome.status, text: Buffer.from(outcome.stdout.bytes).toString() }
}

async function runNode(): Promise<{ status: string; text: string }> {
  const limits = { ...ROOMY, memoryBytes: 512 * 1024 * 1024 }
  // For this run alone: wherever it lies, no other must find the folders above it.
  const outcome = await box.run({ argv: [node, '-e', 'console.log(6 * 7)'], readable: [node], limits })
  return { status: outcome.status, text: Buffer.from([...outcome.stdout.bytes, ...outcome.stderr.bytes]).toString() }
}

/** Kills the first process of a run while its program has children, and waits until none of them is left. */
async function firstProcessKilled(): Promise<number> {
  const words = ['forked-spin', '2', '60001']
  const ended = run('uses', words, { cpuMs: 60_000, wallMs: 60_000 }).catch(() => undefined)
  await until(() => spinning(words).length >= 2)
  const pids = new Set(spinning(words))
  const [first] = [...pids].map(parentOf).filter((pid) => !pids.has(pid))
  if (first !== undefined) process.kill(first, 'SIGKILL')
  await ended
  await until(() => spinning(words).length === 0)
  return pids.size
}

const spinning = (words: readonly string[]): number[] =>
  readdirSync('/proc').flatMap((entry) =>
    /^\d+$/.test(entry) && told(entry, 'cmdline').includes(words.join('\0')) ? [Number(entry)] : [],
  )
const parentOf = (pid: number): number => Number(/^PPid:\s*(\d+)/m.exec(told(String(pid), 'status'))?.[1] ?? 0)

function told(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20))
}

const reached = await run('reaches', [])
const answers = {
  tier: sandbox.report.tier,
  input: await run('uses', ['counts-stdin']),
  spin: (await run('uses', ['forked-spin', '2', '5000'], { cpuMs: 200 })).status,
  unwaited: (await run('uses', ['unwaited-spin', '6', '100'], { cpuMs: 300 })).status,
  feigned: (await run('uses', ['signal', '24'])).status,
  same: await run('uses', ['forked-same', '100', '4']),
  sharing: await run('uses', ['vforked-same', '100', '2']),
  children: (await run('uses', ['forked-hog', '3', '60'])).status,
  node: await runNode(),
  hog: (await run('uses', ['hog', '1000'])).status,
  sockets: (await run('buffers', ['sockets', '8', '15'], { memoryBytes: 64 * 1024 * 1024, openFiles: 1024 })).status,
  unseen: (await run('buffers', ['unseen', 'sockets', '8', '15'], { memoryBytes: 64 * 1024 * 1024, openFiles: 1024 })).status,
  room: await run('buffers', ['room', '2', '1'], { memoryBytes: 16 * 1024 * 1024 }),
  bomb: (await run('uses', ['fork-bomb'], { wallMs: 60_000 })).status,
  output: (await run('uses', ['output', '-1'])).status,
  sleep: (await run('uses', ['sleep'], { wallMs: 200 })).status,
  left: (await firstProcessKilled()) >= 2,
  daemon: await run('uses', ['daemon']),
  open: reached.text.split('\n').filter((line) => line.endsWith(' OPEN')),
}
process.stdout.write(`${JSON.stringify(answers)}\n`)
