import type { Sandbox, StartLive } from '@parley/sandbox'
import { CommandError } from '@parley/command-line'
import { LAUNCHER } from '../wording/program.ts'
import { type CodexProgram, codexProgram } from '@parley/codex'
import { findCodex } from '@parley/codex/find'

export interface CodexWanted {
  /** `mini`: none is looked for. `codex`: there must be one. */
  readonly engine: string
  /** A file, or a name on the search path. Left out: `codex`. */
  readonly codexPath?: string
  readonly tools: { readonly searchPath: readonly string[] }
}

/** Whether models can be driven by Codex here. */
export type CodexCheck =
  | { readonly kind: 'there'; readonly found: CodexProgram; readonly start: StartLive }
  | { readonly kind: 'missing'; readonly why: string }

/** Looks for Codex, and for a sandbox that can hold it. `--engine codex` without both is an error. Throws `CommandError`. */
export function checkCodex(plan: CodexWanted, sandbox: Sandbox): CodexCheck {
  if (plan.engine === 'mini') return { kind: 'missing', why: 'it was started with --engine mini' }
  const { codexPath = 'codex' } = plan
  // A path in a plan is whole.
  const path = findCodex(codexPath, { searchPath: plan.tools.searchPath, cwd: '/', own: LAUNCHER })
  const found = path === undefined ? undefined : codexProgram(path)
  if (found !== undefined && sandbox.start !== undefined) return { kind: 'there', found, start: sandbox.start }
  const [code, why, hint] =
    found === undefined
      ? ['engine_missing', noProgram(codexPath), 'npm install -g @openai/codex, or --codex FILE']
      : [
          'sandbox_unavailable',
          `Codex needs a sandbox with a network of its own, and this one (${sandbox.report.tier}) has none`,
          SANDBOX_HINT,
        ]
  if (plan.engine === 'codex') throw new CommandError(code, why, { hint })
  return { kind: 'missing', why }
}

const SANDBOX_HINT = 'run as root or allow user namespaces, and have a C compiler; parley sandbox check says what is missing'
const noProgram = (codexPath: string): string =>
  codexPath.includes('/') ? `there is no program at ${codexPath}` : `there is no ${codexPath} on PATH`
