import { spawn } from 'node:child_process'
import { ensurePeer, PeerUnavailable } from '../../../scripts/peers/ensure-peer.ts'
import type { PeerName } from '../../../scripts/peers/peer.ts'

/** Programs of the machine, how they are asked whether they run at all, and the Debian package that has them. */
const PROGRAMS = {
  bwrap: { args: ['--version'], package: 'bubblewrap' },
  cc: { args: ['--version'], package: 'gcc' },
  'g++': { args: ['--version'], package: 'g++' },
  python3: { args: ['--version'], package: 'python3' },
  taskset: { args: ['--version'], package: 'util-linux' },
  wrk: { args: ['-v'], package: 'wrk' },
} as const

/** What a long run cannot do without. */
export interface Needs {
  readonly programs: readonly (keyof typeof PROGRAMS)[]
  readonly peers: readonly PeerName[]
}

/** Whether what is needed can be had: a run whose program this processor cannot run is left out, anything missing is a failure. */
export type Readiness =
  | { readonly kind: 'ready' }
  | { readonly kind: 'cannot-run'; readonly words: string }
  | { readonly kind: 'missing'; readonly words: string }

/** It was built for another processor: death by one of these, no start at all, or a shell that took it for a script and gave up. */
const NOT_FOR_THIS_PROCESSOR: readonly string[] = ['SIGILL', 'SIGSEGV', 'SIGBUS', 'SIGTRAP', 'SIGSYS', 'ENOEXEC', '126', '127']

/** Looks for everything before anything runs, and fetches the peers. */
export async function readinessOf({ programs, peers }: Needs): Promise<Readiness> {
  const ends = await Promise.all(programs.map(async (name) => ({ name, end: await endOf(name) })))
  const missing = ends.filter(({ end }) => end === 'ENOENT').map(({ name }) => name)
  if (missing.length > 0) {
    const packages = missing.map((name) => PROGRAMS[name].package).join(' ')
    const words = `missing: ${missing.join(', ')}. To install: apt-get install ${packages}   (or what your system calls them)`
    return { kind: 'missing', words }
  }
  const odd = ends.find(({ end }) => NOT_FOR_THIS_PROCESSOR.includes(end))
  if (odd !== undefined) return { kind: 'cannot-run', words: `${odd.name} cannot run on this processor (${odd.end})` }
  for (const peer of peers) {
    const words = await refusalOf(peer)
    if (words !== undefined) return { kind: 'missing', words }
  }
  return { kind: 'ready' }
}

/** The signal that ended it, the reason why it could not be started, or its exit code: what it says does not matter. */
function endOf(name: keyof typeof PROGRAMS): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn(name, PROGRAMS[name].args, { stdio: 'ignore' })
    child.on('error', (error) => resolve('code' in error ? String(error.code) : error.message))
    child.on('exit', (code, signal) => resolve(signal ?? String(code)))
  })
}

async function refusalOf(peer: PeerName): Promise<string | undefined> {
  try {
    await ensurePeer(peer)
    return undefined
  } catch (error) {
    if (error instanceof PeerUnavailable) return error.message
    throw error
  }
}
