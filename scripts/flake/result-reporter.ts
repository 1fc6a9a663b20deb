import { writeFileSync } from 'node:fs'
import type { Reporter, SerializedError, TestModule } from 'vitest/node'
import type { TestEnd } from './compare.ts'

/** What the runner tells us at its end. */
export interface ToldResult {
  readonly tests: Readonly<Record<string, TestEnd>>
  readonly outside: readonly string[]
}

/** Writes how every test ended, and what went wrong outside of them. */
export class ResultReporter implements Reporter {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const tests = new Map<string, TestEnd>()
    for (const module of modules) {
      const file = module.relativeModuleId
      const broken = firstLine(module.errors())
      if (broken !== undefined) tests.set(file, { state: 'failed', error: broken })
      for (const test of module.children.allTests()) {
        const name = `${file} > ${test.fullName}`
        const { state, errors: own = [] } = test.result()
        const end: TestEnd =
          state === 'failed' ? { state, error: firstLine(own) ?? '' } : { state: state === 'passed' ? state : 'skipped' }
        // Of several tests of one name the worst counts: which of them comes first depends on the order.
        if (tests.get(name)?.state !== 'failed') tests.set(name, end)
      }
    }
    const told: ToldResult = { tests: Object.fromEntries(tests), outside: errors.flatMap((error) => firstLine([error]) ?? []) }
    writeFileSync(this.#path, JSON.stringify(told))
  }
}

function firstLine(errors: readonly SerializedError[]): string | undefined {
  const [error] = errors
  if (error === undefined) return undefined
  const [line = ''] = String(error.message).split('\n')
  return `${error.name ?? 'Error'}: ${line}`
}
