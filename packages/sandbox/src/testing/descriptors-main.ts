// Run with descriptors that its own parent left open: prints what programs of every kind find open in their boxes.
import { text } from 'node:stream/consumers'
import { type Box, openSandbox, type RunRequest, type SandboxOptions } from '../index.ts'
import { ROOMY } from './scratch.ts'

const AT_ONCE = 3
const [driver = '', tier = '', cacheFolder = '', runFolder = '', folder = ''] = process.argv.slice(2)
const DRIVERS: Readonly<Record<string, SandboxOptions['driver']>> = { cage: 'cage', bwrap: 'bwrap', none: 'none' }

/**
 * Which it has itself and, with a word, to which files those of others in its box lead. Without a box the others would be all of the
 * machine's. What the program opens meanwhile is closed again.
 */
const LOOK = `import os, sys
held = []
for fd in range(70000):
  try: os.fstat(fd); held.append(str(fd))
  except OSError: pass
def look(pid):
  try: numbers = os.listdir(f'/proc/{pid}/fd')
  except OSError: numbers = [str(fd) for fd in range(3, 260)]
  for fd in numbers:
    try: link = os.readlink(f'/proc/{pid}/fd/{fd}')
    except OSError: continue
    if link.startswith('/') and link != '/dev/null': yield link
try: pids = [pid for pid in os.listdir('/proc') if pid.isdigit()]
except OSError: pids = [str(os.getppid())]
led = [link for pid in pids if len(sys.argv) > 1 and pid != str(os.getpid()) for link in look(pid)]
print(' '.join(held + led), file=sys.stderr)`

const sandbox = await openSandbox({
  driver: DRIVERS[driver] ?? 'auto',
  cacheFolder,
  runFolder,
  ...(tier === 'root' || tier === 'user-namespaces' || tier === 'landlock' ? { tier } : {}),
})
const request: RunRequest = {
  argv: ['/usr/bin/python3', '-I', '-S', '-c', LOOK, ...(driver === 'none' ? [] : ['others'])],
  environment: {},
  limits: { ...ROOMY, openFiles: 256, cpuMs: 20_000, wallMs: 60_000 },
}
const isStrong = sandbox.start !== undefined
const said = (bytes: Uint8Array): string => Buffer.from(bytes).toString().trim()
const look = async (box: Box): Promise<string> => said((await box.run(request)).stderr.bytes)

async function lookIn(profile: Parameters<typeof sandbox.openBox>[0]): Promise<string> {
  await using box = await sandbox.openBox(profile)
  // Twice, since what one run leaves open would be there in the next.
  return `${await look(box)}; ${await look(box)}`
}

async function lookJoined(): Promise<string> {
  await using one = await sandbox.openBox({ kind: 'judge' })
  await using two = await sandbox.openBox({ kind: 'judge' })
  const outcome = await sandbox.interact(one, two, { program: request, interactor: request, captureBytes: 4096 })
  return `${said(outcome.program.stderr.bytes)}; ${said(outcome.interactor.stderr.bytes)}`
}

async function lookLive(): Promise<string> {
  const program = await sandbox.start?.({ kind: 'workspace', folder, writable: true }, request)
  if (program === undefined) throw new Error('no live programs here')
  program.stdin.end()
  const [, errors] = await Promise.all([text(program.stdout), text(program.stderr), program.ended])
  return errors.trim()
}

const all = Array.from({ length: AT_ONCE }, () => [
  lookIn({ kind: 'judge' }),
  lookJoined(),
  lookIn({ kind: 'workspace', folder, writable: isStrong }),
  ...(isStrong ? [lookLive()] : []),
])
process.stdout.write(`${JSON.stringify([...new Set((await Promise.all(all.flat())).flatMap((text) => text.split('; ')))])}\n`)
