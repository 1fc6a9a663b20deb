import { dirname } from 'node:path'
import { defineConfig } from 'vitest/config'
import base from '../../vitest.config.ts'
import { RESULT_VARIABLE } from './result-variable.ts'
import { ResultReporter } from './result-reporter.ts'

export default defineConfig({
  ...base,
  root: dirname(dirname(import.meta.dirname)),
  test: {
    ...base.test,
    exclude: ['**/node_modules/**'],
    // Files, and the tests in a file unless it says that they build on each other.
    sequence: { shuffle: { files: true, tests: true } },
    reporters: ['default', new ResultReporter(process.env[RESULT_VARIABLE] ?? 'flake-result.json')],
  },
})
