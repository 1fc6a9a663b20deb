import type { Language } from '@parley/protocol'

/** A fenced piece of Markdown. */
export interface CodeBlock {
  /** The word behind the fence, in small letters. */
  readonly tag: string
  readonly text: string
  /** False: the text ended before the fence did. */
  readonly isClosed: boolean
}

const OPENING = /^( {0,3}|\t)(`{3,}|~{3,})[ \t]*([^\s`]*)[^\n`]*$/

/** The fenced blocks of a text, in order. */
export function codeBlocks(text: string): readonly CodeBlock[] {
  const blocks: CodeBlock[] = []
  let open: { fence: string; tag: string; lines: string[] } | undefined
  for (const line of text.split('\n').map((raw) => raw.replace(/\r$/, ''))) {
    if (open === undefined) {
      const found = OPENING.exec(line)
      if (found !== null) open = { fence: found[2] ?? '', tag: (found[3] ?? '').toLowerCase(), lines: [] }
    } else if (isClosing(line, open.fence)) {
      blocks.push({ tag: open.tag, text: `${open.lines.join('\n')}\n`, isClosed: true })
      open = undefined
    } else open.lines.push(line)
  }
  if (open !== undefined) blocks.push({ tag: open.tag, text: open.lines.join('\n'), isClosed: false })
  return blocks
}

function isClosing(line: string, fence: string): boolean {
  const trimmed = line.trim()
  return trimmed.length >= fence.length && trimmed === (fence[0] ?? '').repeat(trimmed.length)
}

const TAGS: Readonly<Record<string, readonly string[]>> = {
  cpp: ['cpp', 'c++', 'cc', 'cxx', 'cpp17', 'cpp20', 'cpp23', 'c++17', 'c++20', 'c++23', 'main.cpp'],
  c: ['c', 'main.c'],
  python: ['python', 'py', 'python3', 'main.py'],
  javascript: ['javascript', 'js', 'mjs', 'node', 'main.js'],
  typescript: ['typescript', 'ts', 'main.ts'],
  java: ['java', 'main.java'],
  rust: ['rust', 'rs', 'main.rs'],
  go: ['go', 'golang', 'main.go'],
}

const familyOf = (language: Language): string => (language.startsWith('cpp') ? 'cpp' : language)

/** Whether a fence's word names the language. */
export const isTagOf = (tag: string, language: Language): boolean => TAGS[familyOf(language)]?.includes(tag) ?? false

/** How a program begins, and what no program of the language lacks. */
const SIGNS: Readonly<Record<string, readonly [begins: RegExp, holds: RegExp]>> = {
  cpp: [
    /^(#\s*(include|define|pragma|if)|using |import |\/[/*]|template|struct |class |(static |constexpr |const |inline )|int |namespace |typedef )/,
    /\bmain\s*\(/,
  ],
  c: [/^(#\s*(include|define|pragma|if)|\/[/*]|struct |static |const |int |void |typedef )/, /\bmain\s*\(/],
  python: [
    /^(#|import \w[\w., ]*$|from [\w.]+ import |def \w+\(|class \w+|print\(|for .+:$|while .+:$|if .+:$|[A-Za-z_][\w, ]*=\s*\S)/m,
    /[=(]/,
  ],
  javascript: [
    /^(\/[/*]|'use strict'|import |const |let |var |function |require\(|process\.|\(\s*(async )?(function|\())/,
    /[=(]/,
  ],
  typescript: [/^(\/[/*]|import |const |let |var |function |type |interface |export |declare )/, /[=(]/],
  java: [/^(\/[/*]|import |package |public |final |class |@)/, /\bmain\s*\(/],
  rust: [/^(\/[/*]|use |fn |#!?\[|const |static |struct |mod |pub )/, /\bfn main\s*\(/],
  go: [/^(\/[/*]|package )/, /\bfunc main\s*\(/],
}

/** Whether a text as a whole looks like a program of the language, and not like somebody talking about one. */
export function isBareCode(text: string, language: Language): boolean {
  const signs = SIGNS[familyOf(language)]
  const first = text.trimStart().split('\n')[0] ?? ''
  return signs !== undefined && signs[0].test(first.trimEnd()) && signs[1].test(text)
}
