import type { BoxFile } from '@parley/sandbox'
import { PLAIN_ENVIRONMENT, type Toolchain, fillCommand } from '../language/toolchain.ts'

/** Something that can be run: what has to lie in a box for it, and how it is started. */
export interface Program {
  readonly toolchain: Toolchain
  /** The source's name without its ending. */
  readonly name: string
  readonly files: readonly BoxFile[]
}

/** How a program is started; `argv` may be followed by arguments of its own. */
export interface ProgramStart {
  readonly argv: [string, ...string[]]
  readonly environment: Readonly<Record<string, string>>
  readonly readable: readonly string[]
  readonly files: readonly BoxFile[]
}

/** What a run request needs to start the program under a memory limit. */
export function startOf({ toolchain, name, files }: Program, memoryMb: number): ProgramStart {
  return {
    argv: fillCommand(toolchain, toolchain.data.run, { name, memoryMb }),
    environment: { ...PLAIN_ENVIRONMENT, ...toolchain.data.environment },
    readable: toolchain.readable,
    files,
  }
}
