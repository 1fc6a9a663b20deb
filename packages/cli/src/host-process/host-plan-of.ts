import { AGENT_LIMITS } from '@parley/protocol'
import { type Invocation, usageError } from '@parley/command-line'
import { wholeNumber } from '@parley/command-line/commands'
import { instanceOf } from '../config/instance.ts'
import type { Settings } from '../config/setting.ts'
import { cacheDirOf } from '../data/cache-dir.ts'
import { dataDirAt } from '../data/data-dir.ts'
import { type ModelSetting, modelLimitsOf } from '../engine/model-limits.ts'
import { codexPathOf } from '../option/codex-option.ts'
import { targetOf } from '../option/target.ts'
import { labelsOf, rootsOf, workerNameOf } from '../option/worker-options.ts'
import { coreEnv } from '../process/program-env.ts'
import type { HostPlan } from './plan.ts'

/** Agents at once, unless somebody says otherwise. */
export const SLOTS_USUAL = 256

/** A token of hosts is nearer than one of anybody. */
const TOKEN_VARIABLES = ['PARLEY_HOST_TOKEN', 'PARLEY_TOKEN']

/** The host that a command line asks for. */
export function hostPlanOf(invocation: Pick<Invocation, 'values' | 'io'>): HostPlan {
  const { values } = invocation
  const settings = instanceOf(invocation)
  const target = targetOf(invocation, 'any', TOKEN_VARIABLES)
  if (target === undefined)
    throw usageError('host needs --url: the gateway to run agents for', 'parley host --url http://host:7400 --token-file F')
  if (target.token === undefined)
    throw usageError(
      'host needs a token',
      'make one with parley token create --role host --name N, and give it by --token-file or PARLEY_HOST_TOKEN',
    )
  return {
    ...localHostPlan(invocation, settings),
    url: new URL(target.url).origin.replace(/^ws/, 'http'),
    token: target.token,
    ...workerNameOf(values),
    labels: labelsOf(values),
    slots: wholeNumber(values, 'slots', { min: 1, max: AGENT_LIMITS.slots }) ?? SLOTS_USUAL,
  }
}

export type LocalHostPlan = Omit<HostPlan, 'url' | 'token' | 'name' | 'labels' | 'slots'>

/** What does not depend on the gateway. */
export function localHostPlan(
  { values, io }: Pick<Invocation, 'values' | 'io'>,
  settings: Pick<Settings, 'dataDir' | 'sandboxRead' | 'logLevel' | ModelSetting>,
): LocalHostPlan {
  const { dataDir, sandboxRead, logLevel } = settings
  return {
    roots: rootsOf({ values, io }),
    dataFolder: dataDirAt(io.cwd, dataDir).path,
    cacheFolder: cacheDirOf(io, dataDir),
    sandboxRead,
    ...codexPathOf({ values, io }),
    model: modelLimitsOf(settings),
    env: coreEnv(io.env),
    logLevel,
  }
}
