import { resolve } from 'node:path'
import {
  BadMethodName,
  type Change,
  type ContractName,
  ContractExists,
  OBSERVED_VERSIONS,
  diffVersions,
  newContract,
  registry,
} from '@parley/contracts'
import { CommandError, type Invocation, pathFailure, suggest, usageError } from '@parley/command-line'
import { show } from '@parley/command-line/commands'
import { basisFor } from '../../contracts/version-option.ts'
import { contractText } from '../../contracts/contract-text.ts'
import { columns } from '@parley/screen'

/** Every contract there is. */
export async function contractsList(invocation: Invocation): Promise<number> {
  const rows = registry.names.map((name) => {
    const { title, kind, description, minVersion, maxVersion } = registry.declared(name)
    const versions = Object.fromEntries(OBSERVED_VERSIONS.map((version) => [version, registry.observed(name, version).present]))
    return { method: title, kind, description, minVersion, maxVersion, versions, differences: registry.differences(name).length }
  })
  const head = ['method', 'kind', ...OBSERVED_VERSIONS, 'differs', 'what']
  const lines = rows.map(({ method, kind, versions, differences, description }) => [
    method,
    kind,
    ...OBSERVED_VERSIONS.map((version) => (versions[version] === true ? 'yes' : 'no')),
    String(differences),
    description,
  ])
  return show(invocation, { methods: rows }, columns([head, ...lines], invocation.io.screen()))
}

/** One contract, declared and observed. */
export async function contractsShow({ io, values, positionals }: Invocation): Promise<number> {
  const name = contractOf(positionals[0] ?? '')
  const version = values.text('codex-version')
  const declared = registry.declared(name)
  const basis = version === undefined ? undefined : basisFor(version)
  const observed = basis === undefined ? undefined : registry.observed(name, basis.version)
  const differences = registry.differences(name).filter(({ versions }) => basis === undefined || versions.includes(basis.version))
  if (values.has('json')) {
    const shown = { method: declared.title, declared, codexVersion: version ?? null, basis: basis?.version ?? null }
    io.out(`${JSON.stringify({ ...shown, observed: observed ?? null, differences })}\n`)
  } else io.out(contractText({ declared, observed, differences, asked: version, basis }))
  return 0
}

/** What two recorded versions do not have in common. */
export async function contractsDiff({ io, values, positionals }: Invocation): Promise<number> {
  const [from, to] = [basisFor(positionals[0] ?? ''), basisFor(positionals[1] ?? '')]
  const changes = diffVersions(from.version, to.version)
  if (values.has('json')) io.out(`${JSON.stringify({ from: from.version, to: to.version, changes })}\n`)
  else {
    for (const [index, { exact, version }] of [from, to].entries())
      if (!exact) io.err(`${positionals[index]} was not recorded; ${version} stands for it\n`)
    io.out(changes.length === 0 ? 'no difference\n' : `${columns(changes.map(changeRow), io.screen(), { wraps: true })}\n`)
  }
  return 0
}

/** The two files of a new contract. */
export async function contractsNew(invocation: Invocation): Promise<number> {
  const { io, values, positionals } = invocation
  try {
    const [schema, test] = await newContract(positionals[0] ?? '', resolve(io.cwd, values.text('out') ?? 'contracts'))
    return show(invocation, { schema, test }, `${schema}\n${test}\nFill both in; until then the test fails.`)
  } catch (error) {
    const out = values.text('out')
    if (error instanceof BadMethodName) throw usageError(error.message)
    if (error instanceof ContractExists)
      throw new CommandError(error.code, error.message, { hint: 'choose another name or another folder with --out' })
    throw pathFailure(out === undefined ? 'contracts' : `--out ${out}`, error)
  }
}

function contractOf(method: string): ContractName {
  const name = registry.find(method)
  if (name === undefined) {
    const meant = suggest(method, registry.names)
    throw usageError(
      `there is no contract of ${JSON.stringify(method)}`,
      meant === undefined ? 'parley contracts list has them all' : `did you mean ${meant}?`,
    )
  }
  return name
}

const SIGNS = { added: '+', removed: '-', changed: '~' } as const

function changeRow({ method, where, field, change, before, after }: Change): readonly string[] {
  const what = change === 'added' ? (after ?? '') : change === 'removed' ? (before ?? '') : `${before} -> ${after}`
  return [SIGNS[change], method, where === 'method' ? 'the method itself' : where, field, what]
}
