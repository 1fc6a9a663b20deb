import * as z from 'zod'

/** What a solution may be written in. `cpp` is C++20; a judge says which of these its machine has. */
export const Language = z.enum([
  'cpp',
  'cpp17',
  'cpp20',
  'cpp23',
  'c',
  'python',
  'javascript',
  'typescript',
  'java',
  'rust',
  'go',
])
export type Language = z.infer<typeof Language>

const EXTENSIONS: Readonly<Record<Language, string>> = {
  cpp: 'cpp',
  cpp17: 'cpp',
  cpp20: 'cpp',
  cpp23: 'cpp',
  c: 'c',
  python: 'py',
  javascript: 'js',
  typescript: 'ts',
  java: 'java',
  rust: 'rs',
  go: 'go',
}

/** The artifact that holds the solution: `main.cpp`, `main.py`, … */
export const mainFile = (language: Language): string => `main.${EXTENSIONS[language]}`

/** The language that a file's name suggests, for those who do not say. */
export function languageOfFile(name: string): Language | undefined {
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  const [language] = Object.entries(EXTENSIONS).find(([, known]) => known === extension) ?? SPELLINGS[extension] ?? []
  return Language.safeParse(language).data
}

const SPELLINGS: Readonly<Record<string, readonly [Language]>> = {
  cc: ['cpp'],
  cxx: ['cpp'],
  mjs: ['javascript'],
  mts: ['typescript'],
}

/** Whether who knows the one knows the other: `cpp` is C++20 by another name. */
export const isSameLanguage = (one: Language, other: Language): boolean => byStandard(one) === byStandard(other)

const byStandard = (language: Language): Language => (language === 'cpp' ? 'cpp20' : language)
