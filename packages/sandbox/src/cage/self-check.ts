import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Box, RunOutcome, SandboxReport } from '../sandbox.ts'
import type { Ground } from './cage-process.ts'
import { isMachineRoot } from '../machine-root.ts'
import { withListener } from './listener.ts'
import { clockWords } from '../starved.ts'
import { PROBE_LIMITS } from './probe-limits.ts'

/** What the probes found open, as bits of their exit codes. */
const IN_SIGHT = {
  'no filter of system calls': 1,
  rights: 2,
  'a network': 4,
  'files of the host': 8,
  'other processes': 16,
  'that it is root': 32,
  'a way to set limits or priorities of others': 64,
  'a way to leave a setuid file or a device': 128,
} as const
const IN_CORNERS = {
  'a way to write settings of the machine': 1,
  'that it is root outside': 2,
  'a socket of the host': 4,
  'a way to change a device of the host': 8,
  'changes of files of the host': 16,
  'a way to huge pages': 32,
} as const

const HIDDEN_CHILDREN =
  'time of children that nobody waits for and that live a few milliseconds each is not counted: needs a writable cgroup'
const ROOTS_FOLDERS =
  'commands of engines have root’s number here, without its rights: needs the rights of root (CAP_SYS_ADMIN), or an ordinary user'
const BRIEF_THREADS =
  'up to 16 processes more than allowed are noticed after a few milliseconds or at the end of the run, threads only while they live: needs a writable cgroup'
const SAME_USER_SIGNALS =
  'a program may signal other processes of this user: needs Landlock 6 (Linux 6.12), user namespaces or root'
const SAME_USER_MODES =
  'modes and times of this user’s files can be changed by whoever knows their paths, not their content: needs user namespaces or root'
const PATHS_SEEN =
  'whether a path is there, its size, times and owner, and where a link leads, is told to whoever knows the path, not its content; so are the machine’s name and which processes run: needs user namespaces or root'
/** From this version on, signals beyond the program's own processes are refused. */
const LANDLOCK_WITH_SIGNALS = 6
// Measured with programs that keep what they can where nobody looks (`fixture/buffers.c`).
const COUNTED_BUFFERS =
  'what sockets and pipes hold is counted by their number: up to 10 MiB are not seen, and more where commands of engines have TCP connections among themselves or send each other descriptors: needs a writable cgroup'
const RESIDENT_WATCH = 'memory is watched every few milliseconds, not held by the kernel: needs a writable cgroup'

/** Folders that everybody may write to, where there is none for temporary files. */
const PLACES_FOR_ALL = ['/var/tmp', '/dev/shm', '/run']

/** Whether the tier holds, found out by running a probe in a real box, and what to say about it. */
export type SelfCheck =
  | { readonly kind: 'holds'; readonly report: SandboxReport }
  | { readonly kind: 'broken'; readonly why: string }

/** Runs the helper's own probe in the box: it tries what must fail. */
export async function selfCheck(box: Box, ground: Ground, binary: string): Promise<SelfCheck> {
  const probe = (...words: string[]): Promise<RunOutcome> =>
    box.run({
      argv: ['./probe', 'probe', ...words],
      files: [{ name: 'probe', from: { path: binary }, executable: true }],
      limits: PROBE_LIMITS,
    })
  const found: string[] = []
  const corners = await besideListener(binary, (file, name) => probe('corners', file, name))
  if (corners === undefined) return { kind: 'broken', why: 'the probe could not listen' }
  for (const [{ exitCode, message, status }, bits] of [
    [await probe('sight'), IN_SIGHT],
    [corners, IN_CORNERS],
  ] as const) {
    if (exitCode === null) return { kind: 'broken', why: message ?? `the probe ended as ${status}` }
    found.push(...Object.entries(bits).flatMap(([name, bit]) => ((exitCode & bit) === 0 ? [] : [name])))
  }
  const open = found.filter((name) => !cannotBe(name, ground))
  if (open.length > 0) return { kind: 'broken', why: `inside, the probe saw ${open.join(', ')}` }
  const memory = await probe('memory')
  if (memory.status !== 'memory-limit')
    return { kind: 'broken', why: `a program that takes too much memory ended as ${memory.status}` }
  const buffers = await probe('buffers')
  if (buffers.status !== 'memory-limit')
    return { kind: 'broken', why: `a program that keeps too much memory in sockets ended as ${buffers.status}` }
  const processes = await probe('processes')
  const refused = processes.status === 'process-limit' || processes.exitCode === 1
  if (!refused) return { kind: 'broken', why: `a program that starts too many processes ended as ${processes.status}` }
  return { kind: 'holds', report: reportOf(ground) }
}

/** In a short path that anybody may walk down: what keeps a program away must be its box. */
async function besideListener<T>(binary: string, use: (file: string, name: string) => Promise<T>): Promise<T | undefined> {
  const folder = await makeFirst([tmpdir(), ...PLACES_FOR_ALL])
  if (folder === undefined) return undefined
  try {
    await chmod(folder, 0o711)
    // Written so that it is not taken for a path in the box's own /tmp.
    return await withListener(binary, folder, ({ file, name }) => use(`/.${join(folder, file)}`, name))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A folder of its own in the first of these that can be written: on some machines the one for temporary files cannot. */
async function makeFirst(places: readonly string[]): Promise<string | undefined> {
  for (const place of places) {
    const made = await mkdtemp(join(place, 'parley-check-')).catch(() => undefined)
    if (made !== undefined) return made
  }
  return undefined
}

/** What says nothing in this tier, or to us: where we are not root of the machine, nobody inside can be. */
function cannotBe(name: string, { tier }: Ground): boolean {
  return (tier === 'landlock' && name === 'other processes') || (name === 'that it is root outside' && !isMachineRoot())
}

function reportOf(ground: Ground): SandboxReport {
  const { cgroup } = ground
  const clock = clockWords()
  const landlock = ground.tier === 'landlock'
  const ownUser = ground.tier === 'root' || (landlock ? process.getuid?.() === 0 : isMachineRoot())
  const signalsHeld = ownUser || ground.landlockVersion >= LANDLOCK_WITH_SIGNALS
  const user = `${ownUser ? 'a user of its own, ' : ''}no capabilities, no new privileges`
  return {
    driver: 'cage',
    tier: landlock ? 'landlock' : `namespaces${cgroup === 0 ? '' : `+cgroup${cgroup}`}`,
    enforced: {
      cpu:
        cgroup === 0
          ? 'accounts of all processes, watched; resource limit behind it'
          : `cgroup ${cgroup} and accounts of all processes`,
      wall: clock.wall,
      memory:
        cgroup === 0
          ? 'resident size, page tables, mappings and buffers of all processes, and files in memory, watched; resource limit behind it'
          : `cgroup ${cgroup}`,
      processes: ground.tellsRefusals
        ? `cgroup ${cgroup}, first refusal ends the run`
        : 'resource limit, and counted by the watch',
      output: 'exact count',
      files: landlock
        ? `Landlock ${ground.landlockVersion}, a folder of its own`
        : 'private root, read-only; box and /tmp of bounded size, new for every run',
      network: landlock ? 'no sockets' : 'a network namespace without any link, no sockets but local ones',
      'system calls': `filter: no tracing, mounting, namespaces, keys, bpf, io_uring, userfaultfd, perf; no setuid files, no devices; no limits, priorities or processors of others${landlock ? '; no watching of files, no queues of the machine' : ''}`,
      'facts of the machine': landlock
        ? '/proc cannot be read'
        : 'no path but of what is shown; /proc has its own processes alone, and for commands of engines a list',
      rights: user,
      ...(signalsHeld ? { 'other processes': landlock ? 'only its own may be signalled' : 'only its own' } : {}),
    },
    missing: [
      ...clock.missing,
      ...(cgroup === 0 ? [RESIDENT_WATCH, COUNTED_BUFFERS, HIDDEN_CHILDREN, BRIEF_THREADS] : []),
      ...(ownUser && ground.tier === 'user-namespaces' ? [ROOTS_FOLDERS] : []),
      ...(landlock
        ? [
            'the box is a folder on disk whose size is looked at, not held (too much ends the run as output-limit): needs user namespaces or root',
            PATHS_SEEN,
            ...(signalsHeld ? [] : [SAME_USER_SIGNALS]),
            ...(ownUser ? [] : [SAME_USER_MODES]),
          ]
        : []),
    ],
  }
}
