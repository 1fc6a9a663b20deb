import { availableParallelism, hostname } from 'node:os'
import { join } from 'node:path'
import { MachineId } from '@parley/protocol'
import { type Invocation, usageError } from '@parley/command-line'
import { wholeNumber } from '@parley/command-line/commands'
import { instanceOf } from '../config/instance.ts'
import type { Settings } from '../config/setting.ts'
import { cacheDirOf } from '../data/cache-dir.ts'
import { dataDirAt } from '../data/data-dir.ts'
import { type ModelSetting, modelLimitsOf } from '../engine/model-limits.ts'
import { codexPathOf } from '../option/codex-option.ts'
import { targetOf } from '../option/target.ts'
import { ENGINE_CHOICES, type JudgePlan, SANDBOX_CHOICES, type SandboxChoice } from './plan.ts'
import { toolPlacesOf } from '../installed/tool-places.ts'

/** Jobs at once, unless somebody says otherwise: the cores are shared among them anyway. */
const SLOTS_USUAL_MAX = 8
const SLOTS = { min: 1, max: 256 }
const ATTEMPTS = { min: 1, max: 10 }

/** A token of judges is nearer than one of anybody. */
const TOKEN_VARIABLES = ['PARLEY_JUDGE_TOKEN', 'REALMOI_JUDGE_MCP_TOKEN', 'PARLEY_TOKEN']

/** The judge that a command line asks for. */
export function judgePlanOf(invocation: Pick<Invocation, 'values' | 'io'>): JudgePlan {
  const { values, io } = invocation
  const settings = instanceOf(invocation)
  const target = targetOf({ values, io }, 'any', TOKEN_VARIABLES)
  if (target === undefined)
    throw usageError('judge needs --url: the gateway to work for', 'parley judge --url http://host:7400 --token-file F')
  if (target.token === undefined)
    throw usageError(
      'judge needs a token',
      'make one with parley token create --role judge --name N, and give it by --token-file or PARLEY_JUDGE_TOKEN',
    )
  return {
    ...localPlan(invocation, settings),
    url: target.url,
    token: target.token,
    logLevel: settings.logLevel,
  }
}

/** What does not depend on the gateway. */
export function localPlan(
  { values, io }: Pick<Invocation, 'values' | 'io'>,
  settings: Pick<Settings, 'dataDir' | 'sandboxRead' | ModelSetting>,
): Omit<JudgePlan, 'url' | 'token' | 'logLevel'> {
  const { dataDir } = settings
  const attempts = wholeNumber(values, 'attempts', ATTEMPTS)
  return {
    ...identityOf(values.text('name')),
    slots: wholeNumber(values, 'slots', SLOTS) ?? Math.min(SLOTS_USUAL_MAX, availableParallelism()),
    sandbox: sandboxOf(values.text('sandbox')),
    engine: ENGINE_CHOICES.find((choice) => choice === values.text('engine')) ?? 'auto',
    ...codexPathOf({ values, io }),
    ...(attempts === undefined ? {} : { attempts }),
    model: modelLimitsOf(settings),
    workFolder: join(dataDirAt(io.cwd, dataDir).path, 'judge'),
    cacheFolder: cacheDirOf(io, dataDir),
    tools: toolPlacesOf(io.env),
    ...(settings.sandboxRead.length === 0 ? {} : { sandboxRead: settings.sandboxRead }),
  }
}

export function sandboxOf(text: string | undefined): SandboxChoice {
  return SANDBOX_CHOICES.find((choice) => choice === text) ?? 'auto'
}

/** Whoever names a judge names the machine, too: it is the same judge when it comes back. */
function identityOf(name: string | undefined): Pick<JudgePlan, 'machineId' | 'name'> {
  if (name === undefined) return { machineId: `${hostname().slice(0, 100)}-${process.pid}` }
  if (!MachineId.safeParse(name).success) throw usageError('--name must have 1 to 128 characters')
  return { machineId: name, name }
}
