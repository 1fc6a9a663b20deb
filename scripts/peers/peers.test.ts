import { spawnSync } from 'node:child_process'
import { cpSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ensurePeer, PeerUnavailable } from './ensure-peer.ts'
import { peerFor, peerOrSkip } from './peer-or-skip.ts'
import { PINNED_PEERS } from './peer.ts'

const HERE = dirname(fileURLToPath(import.meta.url))
const SCRIPTS = dirname(HERE)
const LOCKS = join(HERE, 'locks')
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

test('what one clone has fetched another one takes, without asking anybody', { timeout: 120_000 }, async (context) => {
  await peerFor(context, SMALL)
  const fetched = spawnSync(process.execPath, [cloneAt('first'), SMALL], { env: alone({}), encoding: 'utf8' })
  expect(fetched).toMatchObject({ status: 0, stdout: expect.stringContaining(join(cache, 'kept/peers', SMALL)) })
  const nobody = { npm_config_registry: 'http://127.0.0.1:9/', npm_config_cache: join(cache, 'npm'), npm_config_offline: 'true' }
  const taken = spawnSync(process.execPath, [cloneAt('a second'), SMALL], { env: alone(nobody), encoding: 'utf8' })
  expect(taken).toMatchObject({ status: 0, stderr: '', stdout: fetched.stdout })
})

/** Another clone, as far as its peers go, with its packages installed. */
function cloneAt(name: string): string {
  const clone = join(cache, name)
  for (const folder of ['peers', 'cache']) cpSync(join(SCRIPTS, folder), join(clone, 'scripts', folder), { recursive: true })
  symlinkSync(join(dirname(SCRIPTS), 'node_modules'), join(clone, 'node_modules'))
  writeFileSync(join(clone, 'package.json'), JSON.stringify({ type: 'module' }))
  return join(clone, 'scripts/peers/main.ts')
}

function alone(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => name !== 'PARLEY_PEERS_DIR')
  return { ...Object.fromEntries(own), PARLEY_CACHE: join(cache, 'kept'), ...more }
}

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
