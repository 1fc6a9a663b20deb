import type { JobSpec, Language } from '@parley/protocol'
import type { Toolchain } from './toolchain.ts'

const STANDARDS: ReadonlyMap<string | null, Language> = new Map([
  ['c++17', 'cpp17'],
  ['c++20', 'cpp20'],
  ['c++23', 'cpp23'],
])

/** What a job is to be compiled as: `cpp` follows the standard that the job names, if it names one. */
export function languageOf({ language, compile }: JobSpec): Language {
  return (language === 'cpp' ? STANDARDS.get(compile.cpp_std) : undefined) ?? language
}

/** `c++20` and the like; null for all that is not C++. */
export function cppStandard(toolchain: Toolchain | undefined): string | null {
  return toolchain?.data.build?.command.find((word) => word.startsWith('-std=c++'))?.slice('-std='.length) ?? null
}
