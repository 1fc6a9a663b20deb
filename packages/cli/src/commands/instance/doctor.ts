import { flagsOf } from '../../config/instance.ts'
import { loadSettings } from '../../config/load.ts'
import { tellNotices } from '../../config/tell-notices.ts'
import type { DoctorCheck } from '../../doctor/doctor-check.ts'
import { checkInstance } from '../../doctor/instance-checks.ts'
import { checkMachine } from '../../doctor/machine.ts'
import { walk } from '../../doctor/walk.ts'
import { targetOf } from '../../option/target.ts'
import { columns, prose } from '@parley/screen'
import { type Invocation, usageError } from '@parley/command-line'

/** With a URL: the walk along a connection. Without: this machine and its instance. Exit code 1 when something failed. */
export async function doctor(invocation: Invocation): Promise<number> {
  const { io, values } = invocation
  if (values.has('codex-config')) return (await import('../../doctor/codex-config.ts')).doctorCodexConfig(invocation)
  for (const option of ['codex-home', 'codex-version', 'yes', 'undo'])
    if (values.has(option)) throw usageError(`--${option} goes with --codex-config`)
  const target = targetOf(invocation)
  const found = target === undefined ? await checkHere(invocation) : await walk(target)
  const checks = found.map((check) => (check.hint === undefined ? check : { ...check, hint: io.typed(check.hint) }))
  const isGood = checks.every(({ status }) => status !== 'failed')
  if (values.has('json')) {
    io.out(`${JSON.stringify({ ok: isGood, checks })}\n`)
    return isGood ? 0 : 1
  }
  io.out(
    `${columns(
      checks.map(({ name, status, detail, hint }) => [name, status, prose(hint === undefined ? detail : `${detail} → ${hint}`)]),
      io.screen(),
      { wraps: true },
    )}\n`,
  )
  return isGood ? 0 : 1
}

async function checkHere(invocation: Invocation): Promise<DoctorCheck[]> {
  const { io, values } = invocation
  const loaded = loadSettings({ env: io.env, cwd: io.cwd, configFile: values.text('config'), flags: flagsOf(invocation) })
  tellNotices(io, loaded)
  const wrong = loaded.problems.filter(({ level }) => level === 'error')
  const config: DoctorCheck = {
    name: 'config',
    status: wrong.length === 0 ? 'ok' : 'failed',
    detail:
      wrong.length === 0
        ? (loaded.file ?? 'environment and defaults')
        : wrong.map(({ key, message }) => `${key} ${message}`).join('; '),
    ...(wrong.length === 0 ? {} : { hint: 'parley config check' }),
  }
  const machine = await checkMachine(io)
  return [...machine, config, ...(loaded.settings === undefined ? [] : await checkInstance(loaded.settings, io))]
}
