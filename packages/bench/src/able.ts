import { type Needs, readinessOf } from './needs.ts'

interface Run {
  readonly name: string
  readonly needs: Needs
}

/**
 * The names of those that can run here. What is missing is told in words, for all of them at once, and is a failure: undefined.
 * One whose program this processor cannot run is left out aloud.
 */
export async function ableOf(runs: readonly Run[]): Promise<ReadonlySet<string> | undefined> {
  const able = new Set<string>()
  let isWhole = true
  for (const { name, needs } of runs) {
    const ready = await readinessOf(needs)
    if (ready.kind === 'ready') able.add(name)
    else if (ready.kind === 'cannot-run') process.stderr.write(`*** ${name} is SKIPPED: ${ready.words}\n`)
    else {
      isWhole = false
      process.stderr.write(`${name}: ${ready.words}\n`)
    }
  }
  return isWhole ? able : undefined
}
