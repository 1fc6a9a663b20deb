import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'

const BUSY = join(import.meta.dirname, 'busy-main.ts')

/** One busy process for each core, until it is disposed of; they end with us, however we end. */
export interface Busy extends AsyncDisposable {
  readonly pids: readonly number[]
}

export async function keepBusy(count: number = availableParallelism()): Promise<Busy> {
  const children = Array.from({ length: count }, () => spawn(process.execPath, [BUSY], { stdio: ['pipe', 'ignore', 'inherit'] }))
  await Promise.all(children.map((child) => once(child, 'spawn')))
  const end = async (child: (typeof children)[number]): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  return {
    pids: children.flatMap(({ pid }) => pid ?? []),
    [Symbol.asyncDispose]: async () => void (await Promise.all(children.map(end))),
  }
}
