import type { SteadyClient } from '@parley/client'
import { EngineName, type Model, type ToolInput } from '@parley/protocol'
import { CommandError, type Invocation, usageError } from '@parley/command-line'
import { wholeNumber } from '@parley/command-line/commands'
import { dollarsOf } from '../../dollars.ts'

type ModelInput = Pick<ToolInput<'job.create'>, 'model' | 'upstream_channel' | 'engine' | 'max_attempts' | 'budget'>

const ATTEMPTS = { min: 1, max: 10 }
const TOKENS = { min: 1, max: 1_000_000_000_000 }
/** Options that say how a model works. */
const MODEL_OPTIONS = ['channel', 'engine', 'attempts', 'budget-tokens', 'budget-usd']
/** As many names as one reads. */
const NAMES_SHOWN = 20

/** What the options say about the model and what it may use. */
export function modelOf(values: Invocation['values']): ModelInput {
  const model = values.text('model')
  const channel = values.text('channel')
  const engine = EngineName.safeParse(values.text('engine')).data
  const attempts = wholeNumber(values, 'attempts', ATTEMPTS)
  const tokens = wholeNumber(values, 'budget-tokens', TOKENS)
  const microusd = dollarsOf(values, 'budget-usd')
  const budget = { ...(tokens === undefined ? {} : { tokens }), ...(microusd === undefined ? {} : { microusd }) }
  return {
    ...(model === undefined ? {} : { model }),
    ...(channel === undefined ? {} : { upstream_channel: channel }),
    ...(engine === undefined ? {} : { engine }),
    ...(attempts === undefined ? {} : { max_attempts: attempts }),
    ...(Object.keys(budget).length === 0 ? {} : { budget }),
  }
}

/** Code that is judged as it is has nothing to do with a model. */
export function refuseModelOptions(values: Invocation['values']): void {
  const odd = MODEL_OPTIONS.find((name) => values.has(name))
  if (odd !== undefined)
    throw usageError(`--${odd} is for jobs that a model works on`, 'give --statement, and leave --judge-only away')
}

/** The model that a job is for when its options name none: the only one there is. */
export async function chooseModel(
  caller: SteadyClient,
  { model, upstream_channel }: ModelInput,
): Promise<Pick<ModelInput, 'model'>> {
  if (model !== undefined) return {}
  const fits = (item: Model): boolean => upstream_channel === undefined || item.upstream_channel === upstream_channel
  let items = (await caller.call('models.list', { live: false })).items.filter(fits)
  // A channel without named models knows them only when it is asked.
  if (items.length === 0) items = (await caller.call('models.list', { live: true })).items.filter(fits)
  const names = [...new Set(items.map((item) => item.model))].toSorted()
  const [only] = names
  if (only !== undefined && names.length === 1) return { model: only }
  if (only !== undefined) {
    const more = names.length > NAMES_SHOWN ? `, … (parley model list shows all ${names.length})` : ''
    throw usageError(`--model is needed, there are several: ${names.slice(0, NAMES_SHOWN).join(', ')}${more}`)
  }
  const where = upstream_channel === undefined ? '' : ` on channel ${upstream_channel}`
  throw new CommandError('no_model', `there is no model${where} that could solve it`, {
    hint: 'set one up with PARLEY_MODEL_BASE_URL and PARLEY_MODEL_API_KEY or parley channel set; --judge-only judges --code as it is',
    exitCode: 2,
  })
}
