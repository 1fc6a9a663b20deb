import { BUILD_MEMORY_BYTES, type LanguageData, PLAIN } from './language-data.ts'

/** C17 by gcc. */
export const C: LanguageData = {
  ...PLAIN,
  language: 'c',
  title: 'C17',
  tool: 'gcc',
  source: 'main.c',
  build: {
    command: ['{tool}', '-std=gnu17', '-O2', '-pipe', 'main.c', '-o', 'main', '-lm'],
    program: 'main',
    environment: {},
    memoryBytes: BUILD_MEMORY_BYTES,
    header: null,
  },
  run: ['./main'],
}
