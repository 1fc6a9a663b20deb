import { type LanguageData, PLAIN, RUNTIME_BUILD_MEMORY_BYTES } from './language-data.ts'

/** Go, the standard library alone. */
export const GO: LanguageData = {
  ...PLAIN,
  language: 'go',
  title: 'Go',
  tool: 'go',
  version: ['version'],
  source: 'main.go',
  build: {
    command: ['{tool}', 'build', '-o', 'main', 'main.go'],
    program: 'main',
    environment: { GOCACHE: '/tmp/go-build', GOPATH: '/tmp/go', GO111MODULE: 'off', CGO_ENABLED: '0', GOTOOLCHAIN: 'local' },
    memoryBytes: RUNTIME_BUILD_MEMORY_BYTES,
    header: null,
  },
  run: ['./main'],
  memoryAllowanceBytes: 32 * 1024 * 1024,
  memorySigns: ['fatal error: runtime: out of memory', 'runtime: cannot allocate memory'],
  crashSigns: ['\ngoroutine 1 ['],
}
