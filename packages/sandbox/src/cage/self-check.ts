import type { Box, RunOutcome, SandboxReport } from '../sandbox.ts'
import type { Ground } from './cage-process.ts'
import { PROBE_LIMITS } from './probe-limits.ts'

/** What the probe found open, as bits of its exit code. */
const SAW = {
  'no filter of system calls': 1,
  rights: 2,
  'a network': 4,
  'files of the host': 8,
  'other processes': 16,
  'that it is root': 32,
  'a way to set limits or priorities of others': 64,
  'a way to leave a setuid file or a device': 128,
} as const

const HIDDEN_CHILDREN =
  'time of children that nobody waits for and that live a few milliseconds each is not counted: needs a writable cgroup'
const COUNTED_PROCESSES =
  'processes are counted every few milliseconds, not held by the kernel, which does not limit root’s: needs a writable cgroup, or an ordinary user'
const BRIEF_THREADS =
  'up to 16 processes more than allowed are noticed after a few milliseconds or at the end of the run, threads only while they live: needs a writable cgroup'
const SAME_USER_SIGNALS =
  'a program may signal other processes of this user: needs Landlock 6 (Linux 6.12), user namespaces or root'
const SAME_USER_MODES =
  'modes and times of this user’s files can be changed by whoever knows their paths, not their content: needs user namespaces or root'
/** From this version on, signals beyond the program's own processes are refused. */
const LANDLOCK_WITH_SIGNALS = 6
const RESIDENT_WATCH = 'memory is watched every few milliseconds, not held by the kernel: needs a writable cgroup'

/** Whether the tier holds, found out by running a probe in a real box, and what to say about it. */
export type SelfCheck =
  | { readonly kind: 'holds'; readonly report: SandboxReport }
  | { readonly kind: 'broken'; readonly why: string }

/** Runs the helper's own probe in the box: it tries what must fail. */
export async function selfCheck(box: Box, ground: Ground, binary: string): Promise<SelfCheck> {
  const probe = (what: string): Promise<RunOutcome> =>
    box.run({
      argv: ['./probe', 'probe', what],
      files: [{ name: 'probe', from: { path: binary }, executable: true }],
      limits: PROBE_LIMITS,
    })
  const sight = await probe('sight')
  if (sight.exitCode === null) return { kind: 'broken', why: sight.message ?? `the probe ended as ${sight.status}` }
  const landlock = ground.tier === 'landlock'
  const seen = sight.exitCode
  const open = Object.entries(SAW).filter(([name, bit]) => (seen & bit) !== 0 && !(landlock && name === 'other processes'))
  if (open.length > 0) return { kind: 'broken', why: `inside, the probe saw ${open.map(([name]) => name).join(', ')}` }
  const memory = await probe('memory')
  if (memory.status !== 'memory-limit')
    return { kind: 'broken', why: `a program that takes too much memory ended as ${memory.status}` }
  const processes = await probe('processes')
  const refused = processes.status === 'process-limit' || processes.exitCode === 1
  if (!refused) return { kind: 'broken', why: `a program that starts too many processes ended as ${processes.status}` }
  return { kind: 'holds', report: reportOf(ground) }
}

function reportOf(ground: Ground): SandboxReport {
  const { cgroup } = ground
  const landlock = ground.tier === 'landlock'
  const ownUser = ground.tier === 'root' || (landlock && process.getuid?.() === 0)
  const signalsHeld = ownUser || ground.landlockVersion >= LANDLOCK_WITH_SIGNALS
  const unheldProcesses = ground.tier === 'user-namespaces' && process.getuid?.() === 0
  const user =
    ground.tier === 'root' ? 'a user of its own, no capabilities, no new privileges' : 'no capabilities, no new privileges'
  return {
    driver: 'cage',
    tier: landlock ? 'landlock' : `namespaces${cgroup === 0 ? '' : `+cgroup${cgroup}`}`,
    enforced: {
      cpu:
        cgroup === 0
          ? 'accounts of all processes, watched; resource limit behind it'
          : `cgroup ${cgroup} and accounts of all processes`,
      wall: 'clock',
      memory: cgroup === 0 ? 'resident size of all processes, watched; resource limit behind it' : `cgroup ${cgroup}`,
      processes: ground.tellsRefusals
        ? `cgroup ${cgroup}, first refusal ends the run`
        : `${unheldProcesses ? '' : 'resource limit, and '}counted by the watch`,
      output: 'exact count',
      files: landlock
        ? `Landlock ${ground.landlockVersion}, a folder of its own`
        : 'private root, read-only; box and /tmp of bounded size, new for every run',
      network: landlock ? 'no sockets' : 'a network namespace without any link, no sockets but local ones',
      'system calls':
        'filter: no tracing, mounting, namespaces, keys, bpf, io_uring, userfaultfd, perf; no setuid files, no devices; no limits, priorities or processors of others',
      rights: user,
      ...(signalsHeld ? { 'other processes': landlock ? 'only its own may be signalled' : 'only its own' } : {}),
    },
    missing: [
      ...(cgroup === 0 ? [RESIDENT_WATCH, HIDDEN_CHILDREN, BRIEF_THREADS] : []),
      ...(unheldProcesses ? [COUNTED_PROCESSES] : []),
      ...(landlock
        ? [
            'the box is a folder on disk whose size is looked at, not held (too much ends the run as output-limit): needs user namespaces or root',
            ...(signalsHeld ? [] : [SAME_USER_SIGNALS]),
            ...(ownUser ? [] : [SAME_USER_MODES]),
          ]
        : []),
    ],
  }
}
