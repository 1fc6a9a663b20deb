import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'scripts/**/*.test.ts'],
    // One process runs many files: a fresh one for each costs ten times as much. Tests must leave nothing behind anyway.
    pool: 'forks',
    isolate: false,
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
    passWithNoTests: false,
    allowOnly: false,
    // A busy machine makes things late, not wrong.
    expect: { poll: { timeout: 15_000, interval: 25 } },
  },
})
