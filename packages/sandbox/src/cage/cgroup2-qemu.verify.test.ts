import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CGROUP2_ANSWERS, readAnswers } from '../testing/cgroup2-answers.ts'
import { scratch } from '../testing/scratch.ts'
import { debianKernel } from '../testing/machine/debian-kernel.ts'
import { quoted } from '../testing/machine/guest-init.ts'
import { bootQemu, QEMU } from '../testing/machine/qemu.ts'
import { skipAloud } from '../testing/skip-aloud.ts'

const ROOM = join(import.meta.dirname, '..', '..')
const MAIN = join(ROOM, 'src', 'testing', 'cgroup2-main.ts')
const TIMEOUT_MS = 900_000

test(
  'a cgroup of version 2 holds on an emulated machine too, whatever this one’s processor is',
  { timeout: TIMEOUT_MS },
  async (context) => {
    if (process.platform !== 'linux' || process.arch !== 'x64' || !existsSync('/usr/bin/apt-get'))
      skipAloud(context, 'limits by cgroup 2 in an emulated machine', 'its kernel is Debian’s for x64, and is had by apt-get')
    if (!existsSync(QEMU))
      throw new Error(`${QEMU} is not there (on Debian: apt-get install --no-install-recommends qemu-system-x86)`)
    await using from = await scratch()
    const cacheFolder = join(from.folder, 'cache')
    await from.open({ cacheFolder })
    const { said } = await bootQemu({
      kernel: await debianKernel(),
      folder: from.folder,
      // The compiler only says its version: the helper was compiled here.
      contents: [
        '/usr/bin/cc',
        process.execPath,
        join(ROOM, 'package.json'),
        join(ROOM, 'src'),
        join(ROOM, 'cage'),
        cacheFolder,
        from.program('uses'),
      ],
      command: [process.execPath, MAIN, cacheFolder, from.folder].map(quoted).join(' '),
    })
    expect(readAnswers(said)).toEqual(CGROUP2_ANSWERS)
  },
)
