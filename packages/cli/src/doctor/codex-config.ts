import { join, resolve } from 'node:path'
import {
  type ConfigFinding,
  type ProviderCheck,
  checkProvider,
  diffText,
  parseToml,
  planRepair,
  readConfig,
  undoRepair,
  writeRepair,
} from '@parley/codex/config'
import { type CodexVersion, parseVersion } from '@parley/contracts/version'
import { openProcesses } from '@parley/executor'
import { columns } from '@parley/screen'
import { homeOf } from '../data/person-folders.ts'
import { CommandError, type Invocation, type Io, usageError } from '@parley/command-line'
import { show } from '@parley/command-line/commands'
import { detectCodex } from '../contracts/named-codex.ts'
import { named } from '../mcp-config/servers-file.ts'

/** Looks over Codex's own configuration, offers what would repair it, and writes it only when told to. */
export async function doctorCodexConfig(invocation: Invocation): Promise<number> {
  const { io, values } = invocation
  const home = resolve(io.cwd, values.text('codex-home') ?? io.env['CODEX_HOME'] ?? join(homeOf(io.env), '.codex'))
  if (values.has('undo')) return undo(invocation, home)
  const path = join(home, 'config.toml')
  const text = await readConfig(path)
  const version = await versionOf(invocation)
  const check = await named(path, () =>
    checkProvider({
      document: parseToml(text),
      isSet: (name) => (io.env[name] ?? '') !== '',
      ...(version === undefined ? {} : { version }),
    }),
  )
  const planned = check.repair === undefined ? undefined : await named(path, () => planRepairOf(check, text))
  const isWritten = planned !== undefined && values.has('yes')
  if (isWritten) await writeRepair(home, [planned.edit])
  const isGood = check.findings.every(({ level }) => level !== 'error')
  const use = planned === undefined ? null : planned.profile === null ? 'codex' : `codex --profile ${planned.profile}`
  if (values.has('json')) {
    const diff = planned === undefined ? null : diffText(planned.edit)
    io.out(
      `${JSON.stringify({ ok: isGood, file: path, ...summary(check), findings: check.findings, diff, written: isWritten, use })}\n`,
    )
    return isGood || isWritten ? 0 : 1
  }
  io.out(io.typed(`${path}\n${columns(rows(check, text), io.screen(), { wraps: true })}\n`))
  if (planned !== undefined && use !== null) {
    io.out(`\n${diffText(planned.edit)}`)
    io.out(
      isWritten
        ? io.typed(`\nWritten. Use it with: ${use}\nparley doctor --codex-config --undo takes it back.\n`)
        : `\nNothing was written: --yes does it. Then: ${use}\n`,
    )
  }
  return isGood || isWritten ? 0 : 1
}

const planRepairOf = ({ repair }: ProviderCheck, text: string): ReturnType<typeof planRepair> | undefined =>
  repair === undefined ? undefined : planRepair(repair, text)

const summary = ({ model, provider, wire }: ProviderCheck) => ({ model, provider, wire_api: wire })

function rows(check: ProviderCheck, text: string): readonly (readonly string[])[] {
  const { model, provider, wire, findings } = check
  const what = [
    ['model', text === '' ? "Codex's own choice: there is no such file" : (model ?? "Codex's own choice")],
    ['provider', provider],
    ['wire_api', wire ?? '-'],
  ]
  const found = findings.map(({ level, key, message, hint }: ConfigFinding) => [level, `${key} ${message} → ${hint}`])
  return [...what, ...(found.length === 0 ? [['ok', 'nothing found that would not work']] : found)]
}

async function undo(invocation: Invocation, home: string): Promise<number> {
  const result = await undoRepair(home)
  if (result.kind === 'nothing')
    throw new CommandError('nothing_to_undo', `nothing was written into ${home} that could be taken back`)
  if (result.kind === 'changed')
    throw new CommandError('changed_since', `${result.path} was changed since, so it is left as it is`, {
      ...(result.backup === null ? {} : { hint: `what was there before is in ${result.backup}` }),
    })
  const { files } = result
  return show(invocation, { ok: true, undone: files }, `Taken back: ${files.join(', ')}`)
}

async function versionOf({ io, values }: Invocation): Promise<{ major: number; minor: number } | undefined> {
  const given = values.text('codex-version')
  if (given === undefined) return askedVersion(io)
  const version = parseVersion(given)
  if (version === undefined) throw usageError('--codex-version must be a version, as in 0.166.0')
  return numbersOf(version)
}

const numbersOf = ({ release: [major, minor] }: CodexVersion): { major: number; minor: number } => ({ major, minor })

/** Nothing where there is no Codex, or none that says what it is: the newest is assumed then. */
async function askedVersion(io: Io): Promise<{ major: number; minor: number } | undefined> {
  await using processes = await openProcesses()
  try {
    const { found } = await detectCodex(io, processes, 'codex')
    return found.kind === 'supported' || found.kind === 'too-old' ? numbersOf(found.version) : undefined
  } catch (error) {
    if (error instanceof CommandError) return undefined
    throw error
  }
}
