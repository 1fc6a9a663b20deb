import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** They take longest, most of the time without a core. Begun last, one of them would run alone at the end. */
const FIRST = [
  'packages/cli/src/demo/demo.test.ts',
  'packages/cli/src/judge-process/codex-engine.test.ts',
  'packages/cli/src/up/up.test.ts',
  'packages/rpc/src/client/conformance.test.ts',
  'scripts/flake/flake.test.ts',
  'scripts/job-page.test.ts',
  'scripts/judged-page.test.ts',
  'packages/cli/src/up/up-judge.test.ts',
  'packages/judge/src/hostile/hostile.test.ts',
  'packages/judge/src/agreement/agreement.test.ts',
  'packages/codex-server/src/replay/replay.test.ts',
  'packages/cli/src/judge-process/judge-processes.test.ts',
  'packages/judge/src/test/verdicts.test.ts',
  'packages/cli/src/judge-process/gateway-kills.test.ts',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const index = FIRST.findIndex((path) => moduleId.endsWith(path))
      return index === -1 ? FIRST.length : index
    }
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other))
  }
}

export default defineConfig({
  test: {
    include: ['packages/*/{src,contracts}/**/*.test.ts', 'scripts/**/*.test.ts'],
    // Every foreign version and program: `npm run verify`.
    exclude: ['**/node_modules/**', '**/*.verify.test.ts'],
    // One process runs many files: a fresh one for each costs ten times as much. Tests must leave nothing behind anyway.
    pool: 'forks',
    isolate: false,
    // One more than the two cores that are meant: much of the time goes by waiting for processes to start and to end.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Far beyond what anything takes: a busy machine makes things late, not wrong.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    teardownTimeout: 30_000,
    passWithNoTests: false,
    allowOnly: false,
    expect: { poll: { timeout: 60_000, interval: 25 } },
  },
})
