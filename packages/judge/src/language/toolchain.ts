import type { Box, RunLimits } from '@parley/sandbox'
import { sparing } from '../box/starved.ts'
import { type ToolPlaces, findTools } from './find-tool.ts'
import type { LanguageData } from './language-data.ts'

/** A language that this machine has: its tool answered from inside a box. */
export interface Toolchain {
  readonly data: LanguageData
  readonly tool: string
  /** Where the tool's companions lie. */
  readonly folder: string
  /** The first line of what the tool says about itself. */
  readonly version: string
  /** What a box must see of this machine, for this language alone. */
  readonly readable: readonly string[]
}

const MIB = 1024 * 1024
const PROBE_LIMITS: RunLimits = sparing({
  cpuMs: 10_000,
  wallMs: 20_000,
  memoryBytes: 1_024 * MIB,
  outputBytes: 64 * 1024,
  processes: 128,
  boxBytes: 16 * MIB,
  openFiles: 256,
})
const VERSION_BYTES = 4_096
const VERSION_CHARS = 120

/** All that a program finds in its environment, whatever it is written in. */
export const PLAIN_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  LANG: 'C.UTF-8',
  HOME: '/tmp',
}

/** Asks each candidate for its version, inside the box. None answers: this machine does not have the language. */
export async function probeLanguage(data: LanguageData, places: ToolPlaces, box: Box): Promise<Toolchain | undefined> {
  for (const { path, folder, readable } of await findTools(data, places)) {
    const outcome = await box.run({
      argv: [path, ...data.version],
      environment: PLAIN_ENVIRONMENT,
      readable,
      captureBytes: { stdout: VERSION_BYTES, stderr: VERSION_BYTES },
      limits: PROBE_LIMITS,
    })
    if (outcome.status !== 'ok') continue
    const version = firstLine(outcome.stdout.bytes) || firstLine(outcome.stderr.bytes)
    if (version !== '') return { data, tool: path, folder, version, readable }
  }
  return undefined
}

function firstLine(bytes: Uint8Array): string {
  const [line = ''] = Buffer.from(bytes).toString('utf8').trimStart().split('\n')
  return line.trim().slice(0, VERSION_CHARS)
}

/** What the words in braces stand for. */
export interface CommandWords {
  readonly name: string
  readonly memoryMb: number
}

/** A command of the language's data with its words filled in, as it is run. */
export function fillCommand(
  { tool, folder }: Toolchain,
  command: readonly [string, ...string[]],
  words: CommandWords,
): [string, ...string[]] {
  const [program, ...rest] = command
  const fill = (word: string): string => fillWord(word, tool, folder, words)
  return [fill(program), ...rest.map(fill)]
}

/** The same command as a person would type it. */
export function showCommand({ data }: Toolchain, command: readonly string[], words: CommandWords): string[] {
  const shown = data.tool === 'own-node' ? 'node' : data.tool
  return command.map((word) => fillWord(word, shown, '', words))
}

function fillWord(word: string, tool: string, folder: string, { name, memoryMb }: CommandWords): string {
  return word
    .replaceAll('{tool}', () => tool)
    .replaceAll('{folder}', () => folder)
    .replaceAll('{name}', () => name)
    .replaceAll('{memory_mb}', () => String(memoryMb))
}

/** The name that the source has to have: that of the class for Java, `main` for all others. */
export function sourceName(data: LanguageData, source: string): string {
  if (!data.source.includes('{name}')) return 'main'
  const [, outer] = PUBLIC_TYPE.exec(source) ?? []
  if (outer !== undefined) return outer
  return /\bclass\s+Main\b/.test(source) ? 'Main' : (INDENTED_PUBLIC_TYPE.exec(source)?.[1] ?? 'Main')
}

const PUBLIC_TYPE = /^public\s+(?:(?:final|abstract|strictfp|sealed)\s+)*(?:class|record|enum|interface)\s+([A-Za-z_]\w{0,99})/m
const INDENTED_PUBLIC_TYPE =
  /^[ \t]+public\s+(?:(?:final|abstract|strictfp|sealed)\s+)*(?:class|record|enum|interface)\s+([A-Za-z_]\w{0,99})/m
