import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ensurePeer, PeerUnavailable } from './ensure-peer.ts'
import { peerFor, peerOrSkip } from './peer-or-skip.ts'
import { PINNED_PEERS } from './peer.ts'

const LOCKS = join(dirname(fileURLToPath(import.meta.url)), 'locks')
/** Small, so that it can be installed a few times. */
const SMALL = 'pg-boss'

let cache: string
beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), 'parley-peers-'))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(cache, { recursive: true, force: true })
})

test.each(Object.entries(PINNED_PEERS))(
  '%s is pinned with everything below it, by content and from no particular host',
  async (name, pinned) => {
    const lock = await readFile(join(LOCKS, name, 'package-lock.json'), 'utf8')
    expect(lock).toContain(JSON.stringify(pinned.integrity))
    expect(lock).not.toContain('"resolved"')
    expect(lock).not.toContain('://registry')
  },
)

test(
  'a peer is installed once and whole when two ask at once, and again when it was left half done',
  { timeout: 120_000 },
  async (context) => {
    await peerFor(context, SMALL)
    await mkdir(join(cache, SMALL, 'node_modules'), { recursive: true })
    await writeFile(join(cache, SMALL, 'node_modules', 'half'), '')
    const [first, second] = await Promise.all([ensurePeer(SMALL, cache), ensurePeer(SMALL, cache)])
    expect(first.dir).toBe(second.dir)
    expect(await readFile(first.bin(SMALL), 'utf8')).toContain('node')
    expect(await readdir(cache)).toEqual([SMALL])
    expect(await readdir(join(cache, SMALL, 'node_modules'))).not.toContain('half')
  },
)

test('without a network a missing peer is a failure in CI and a loud skip elsewhere', { timeout: 120_000 }, async () => {
  vi.stubEnv('npm_config_registry', 'http://127.0.0.1:9/')
  vi.stubEnv('npm_config_cache', join(cache, 'npm'))
  vi.stubEnv('PARLEY_PEERS_DIR', cache)
  vi.stubEnv('npm_config_fetch_retries', '0')
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  try {
    vi.stubEnv('CI', 'true')
    await expect(peerOrSkip(SMALL)).rejects.toBeInstanceOf(PeerUnavailable)
    vi.stubEnv('CI', '')
    expect(await peerOrSkip(SMALL)).toBeUndefined()
    expect(said.mock.calls.flat().join('')).toContain('NOT tested')
  } finally {
    said.mockRestore()
  }
})
