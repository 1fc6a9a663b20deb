import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { copyFile, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CacheUnavailable, openCache } from '../cache/cache.ts'
import type { Peer, PeerName } from './peer.ts'
import { peerAt, PINNED_PEERS } from './peer.ts'

const HERE = dirname(fileURLToPath(import.meta.url))
const REPO = resolve(HERE, '../..')
/** The largest peer is half a gigabyte. */
const INSTALL_TIMEOUT_MS = 10 * 60_000
/** No install takes this long. */
const ABANDONED_MS = 60 * 60_000
const KEPT_OUTPUT_CHARS = 4_000
/** Written last, so a folder without it was never finished. */
const STAMP = '.installed'

/** The peer could not be fetched: no network, or the registry does not have it. Try again with a network. */
export class PeerUnavailable extends Error {
  readonly code = 'peer_unavailable'
}

/** Installs the peer unless it is there already. Safe when several processes do it at once: the first to finish wins. */
export async function ensurePeer(name: PeerName, named: string | undefined = process.env['PARLEY_PEERS_DIR']): Promise<Peer> {
  const stamp = await stampOf(name)
  const suffices = (folder: string): Promise<boolean> => isInstalled(join(folder, name), stamp)
  const cache = named ?? (await openCache('peers', { suffices }).catch(unavailable))
  const dir = join(cache, name)
  if (await isInstalled(dir, stamp)) return peerAt(name, dir)
  await sweep(cache, name)
  const fresh = join(cache, `.${name}.${process.pid}.${randomBytes(4).toString('hex')}`)
  try {
    await install(name, fresh)
    await writeFile(join(fresh, STAMP), stamp)
    await putInPlace(fresh, dir, stamp)
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
  return peerAt(name, dir)
}

/** What an installer that was killed left behind. */
async function sweep(cache: string, name: PeerName): Promise<void> {
  const left = (await readdir(cache).catch(() => [])).filter((entry) => entry.startsWith(`.${name}.`))
  for (const entry of left) {
    const info = await stat(join(cache, entry)).catch(() => undefined)
    if (info !== undefined && Date.now() - info.mtimeMs > ABANDONED_MS)
      await rm(join(cache, entry), { recursive: true, force: true })
  }
}

function unavailable(cause: unknown): never {
  throw cause instanceof CacheUnavailable ? new PeerUnavailable(cause.message, { cause }) : cause
}

async function stampOf(name: PeerName): Promise<string> {
  const lock = await readFile(join(HERE, 'locks', name, 'package-lock.json'), 'utf8')
  const pinned = PINNED_PEERS[name]
  if (!lock.includes(JSON.stringify(pinned.integrity))) {
    throw new Error(`locks/${name}/package-lock.json does not carry the integrity of ${pinned.package} that peers.json pins`)
  }
  return `${createHash('sha256').update(lock).digest('hex')} ${process.platform}-${process.arch}\n`
}

async function isInstalled(dir: string, stamp: string): Promise<boolean> {
  return (await readFile(join(dir, STAMP), 'utf8').catch(() => '')) === stamp
}

async function install(name: PeerName, dir: string): Promise<void> {
  await mkdir(dir, { recursive: true })
  for (const file of ['package.json', 'package-lock.json']) await copyFile(join(HERE, 'locks', name, file), join(dir, file))
  const outcome = await npmCi(dir)
  if (outcome.exitCode !== 0) throw new PeerUnavailable(`peer ${name} could not be installed:\n${outcome.output}`)
}

function npmCi(cwd: string): Promise<{ exitCode: number; output: string }> {
  const env = { ...process.env, PATH: `${join(REPO, 'node_modules', '.bin')}${delimiter}${process.env['PATH'] ?? ''}` }
  const args = [
    'ci',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--prefer-offline',
    '--fetch-retries=1',
    '--fetch-retry-mintimeout=1000',
    '--loglevel=error',
  ]
  return new Promise((done) => {
    const child = spawn('npm', args, {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: INSTALL_TIMEOUT_MS,
      shell: process.platform === 'win32',
    })
    let output = ''
    const keep = (chunk: Buffer): void => {
      output = `${output}${chunk.toString('utf8')}`.slice(-KEPT_OUTPUT_CHARS)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.on('error', (error) => done({ exitCode: -1, output: error.message }))
    child.on('close', (code) => done({ exitCode: code ?? -1, output }))
  })
}

/** A rename onto a folder that exists fails, so whatever stands there is either whole (somebody was faster) or moved away. */
async function putInPlace(fresh: string, dir: string, stamp: string): Promise<void> {
  if (await renamed(fresh, dir)) return
  if (await isInstalled(dir, stamp)) return
  const stale = `${fresh}.stale`
  await rename(dir, stale).catch(() => undefined)
  try {
    if (!(await renamed(fresh, dir)) && !(await isInstalled(dir, stamp)))
      throw new PeerUnavailable(`${dir} is in the way and cannot be replaced`)
  } finally {
    await rm(stale, { recursive: true, force: true })
  }
}

async function renamed(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
    return true
  } catch {
    return false
  }
}
