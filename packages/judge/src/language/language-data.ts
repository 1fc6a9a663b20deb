import type { Language } from '@parley/protocol'

const MIB = 1024 * 1024

/**
 * What a language is, as data. In commands `{tool}` is the tool's path, `{folder}` the folder it lies in, `{memory_mb}` the
 * job's memory limit, `{name}` the source's name without its ending.
 */
export interface LanguageData {
  readonly language: Language
  readonly title: string
  /** What has to be found on the search path; `own-node` is the Node that runs this judge. */
  readonly tool: string
  /** Folders beside the one with the tool where the real tool may lie when what was found is a version manager's shim. */
  readonly behindShim: readonly string[]
  /** How much of the machine a tool outside `/usr` needs to see of its own: its file, or the folder above its `bin`. */
  readonly needs: 'file' | 'folder'
  /** Arguments that make the tool say its version and end. */
  readonly version: readonly string[]
  readonly source: string
  /** Makes a program out of the source; null: the source is the program. */
  readonly build: BuildData | null
  /** For a language without a build: says whether the source can be read at all. */
  readonly check: readonly string[] | null
  /** Starts the program, whose file lies in the box. */
  readonly run: readonly [string, ...string[]]
  readonly environment: Readonly<Record<string, string>>
  /** A limit of the job times this is the limit of a case. */
  readonly timeFactor: number
  /** What the runtime takes before the program's first line, on top of the job's memory limit. */
  readonly memoryAllowanceBytes: number
  /** Words on standard error by which a program that failed says that it was refused memory. */
  readonly memorySigns: readonly string[]
  /** Words by which a program that ended with a code says that it crashed: a checker's code then decides nothing. */
  readonly crashSigns: readonly string[]
}

/** How a program is built. */
export interface BuildData {
  readonly command: readonly [string, ...string[]]
  /** How a person would have typed it, where that differs. */
  readonly shown?: readonly string[]
  /** The file that the build leaves behind. */
  readonly program: string
  readonly environment: Readonly<Record<string, string>>
  readonly memoryBytes: number
  /** The standard library in one header, read in advance: its name, and how to compile it to the file `header.gch`. */
  readonly header: { readonly name: string; readonly command: readonly [string, ...string[]] } | null
}

/** What almost all languages share. */
export const PLAIN = {
  behindShim: [],
  needs: 'folder',
  version: ['--version'],
  build: null,
  check: null,
  environment: {},
  timeFactor: 1,
  memoryAllowanceBytes: 0,
  memorySigns: [],
  crashSigns: [],
} as const satisfies Partial<LanguageData>

export const BUILD_MEMORY_BYTES = 1_024 * MIB
export const RUNTIME_BUILD_MEMORY_BYTES = 2_048 * MIB
