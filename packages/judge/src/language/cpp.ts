import type { Language } from '@parley/protocol'
import { BUILD_MEMORY_BYTES, type LanguageData, PLAIN } from './language-data.ts'

const cpp = (language: Language, standard: string): LanguageData => ({
  ...PLAIN,
  language,
  title: standard.toUpperCase(),
  tool: 'g++',
  source: 'main.cpp',
  build: {
    command: ['{tool}', `-std=${standard}`, '-O2', '-pipe', 'main.cpp', '-o', 'main'],
    program: 'main',
    environment: {},
    memoryBytes: BUILD_MEMORY_BYTES,
    header: {
      name: 'bits/stdc++.h',
      command: ['{tool}', `-std=${standard}`, '-O2', '-pipe', '-x', 'c++-header', 'header.h', '-o', 'header.gch'],
    },
  },
  run: ['./main'],
  memorySigns: ['std::bad_alloc'],
})

/** C++ by g++; `cpp` is C++20. */
export const CPP: readonly LanguageData[] = [
  cpp('cpp', 'c++20'),
  cpp('cpp17', 'c++17'),
  cpp('cpp20', 'c++20'),
  cpp('cpp23', 'c++23'),
]
