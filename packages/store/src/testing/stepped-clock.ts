import { execFile } from 'node:child_process'
import { chmod, mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const SOURCE = fileURLToPath(new URL('./stepped-clock.c', import.meta.url))
const run = promisify(execFile)

/** A time of day that a test sets for the programs that it starts with `env`, while they run. */
export interface SteppedClock extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>
  /** From now on their clocks are so many seconds ahead of the machine's. */
  step(seconds: number): Promise<void>
}

export async function openSteppedClock(): Promise<SteppedClock> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-clock-'))
  // The server runs as somebody else.
  await chmod(folder, 0o755)
  const file = join(folder, 'ahead')
  const library = join(folder, 'stepped-clock.so')
  await writeFile(file, Buffer.alloc(8))
  await run('cc', ['-shared', '-fPIC', '-O1', '-o', library, SOURCE])
  return {
    env: { LD_PRELOAD: library, STEPPED_CLOCK: file },
    async step(seconds) {
      const bytes = Buffer.alloc(8)
      bytes.writeBigInt64LE(BigInt(seconds))
      // Written in place: the programs have this very file mapped.
      const handle = await open(file, 'r+')
      await handle.write(bytes, 0, bytes.length, 0)
      await handle.close()
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}
