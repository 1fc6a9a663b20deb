import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** Small, and what it needs to start is built in. */
const PACKAGE = 'linux-image-cloud-amd64'
const DOWNLOAD_MS = 300_000

/** Debian's kernel, taken out of its package and kept: installed, it would bring an init system and touch how the machine boots. */
export async function debianKernel(): Promise<string> {
  const cache = process.env['PARLEY_CACHE'] ?? join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'parley')
  const kernels = join(cache, 'kernels')
  await mkdir(kernels, { recursive: true })
  const kept = (await readdir(kernels)).find((name) => name.startsWith('vmlinuz-'))
  if (kept !== undefined) return join(kernels, kept)
  const folder = await mkdtemp(join(tmpdir(), 'parley-kernel-'))
  try {
    const { stdout } = await run('apt-cache', ['depends', '--important', PACKAGE])
    const name = /Depends: (linux-image-\S+)/.exec(stdout)?.[1]
    if (name === undefined) throw new Error(`apt-cache knows no ${PACKAGE}: apt-get update`)
    await run('apt-get', ['-qq', 'download', name], { cwd: folder, timeout: DOWNLOAD_MS })
    const [file = ''] = await readdir(folder)
    await run('dpkg-deb', ['-x', join(folder, file), join(folder, 'tree')])
    const boot = join(folder, 'tree', 'boot')
    const kernel = (await readdir(boot)).find((entry) => entry.startsWith('vmlinuz-')) ?? ''
    const partial = join(kernels, `partial-${process.pid}`)
    await copyFile(join(boot, kernel), partial)
    await rename(partial, join(kernels, kernel))
    return join(kernels, kernel)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
