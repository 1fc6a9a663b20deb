import { dirname } from 'node:path'
import { defineConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

export default defineConfig({
  ...base,
  root: dirname(dirname(import.meta.dirname)),
  test: {
    ...base.test,
    include: ['packages/*/{src,contracts}/**/*.verify.test.ts', 'scripts/**/*.verify.test.ts'],
    exclude: ['**/node_modules/**'],
  },
})
