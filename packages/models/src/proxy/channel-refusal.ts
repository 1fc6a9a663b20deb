import { type HttpAnswer, type HttpCallFailed } from '@parley/fetch'
import type { ModelDirectory, ReachableModel } from '../channel/directory.ts'
import { hostAndPort } from '../channel/upstream-url.ts'
import { addressAdvice, keyAdvice, keyPlace } from './channel-advice.ts'
import type { Mask } from '../secret/mask.ts'
import { ModelRefusal } from './refusal.ts'
import { type Said, causeText, isAboutTls, readSaid, saidText } from './upstream-words.ts'

/**
 * The status for what stays as it is until an admin has changed the channel. Not 401, which is about the key of the attempt,
 * and not 5xx, which engines ask again.
 */
const CHANNEL_STATUS = 424
const MODELS_SHOWN = 20

const QUOTA = /insufficient_quota|billing_hard_limit|billing_not_active|insufficient_balance|credit_balance_exhausted/
const QUOTA_WORDS = /exceeded your current quota|insufficient (credit|balance|quota)/i
const MODEL_WORDS = /model|deployment/i
/** How providers say it that have no 404 for it. */
const NO_SUCH_MODEL =
  /not a valid model|model[^.]{0,80}(does not|doesn.t|not) (exist|found)|model not exist|unknown model|invalid model/i

/**
 * What a refusal of an upstream means where it is about the channel: its key, its account, its address, its models. The words
 * name the channel and say what to do; those of the upstream are in them. `undefined`: it is about the request, and passes on
 * as it is, so that the engine can leave out what the upstream does not know.
 */
export async function channelRefusal(
  directory: Pick<ModelDirectory, 'ask'>,
  reachable: ReachableModel,
  answer: Pick<HttpAnswer, 'status' | 'headers'> & { readonly text: string; readonly mask: Mask },
): Promise<ModelRefusal | undefined> {
  const { status, text } = answer
  const said = readSaid(text)
  const what = saidText(status, said, answer.mask)
  const name = `channel ${reachable.channel.name}`
  if (status === 401) {
    const fault =
      reachable.apiKey === null ? `the provider wants a key, and ${name} has none` : `the provider refused the key of ${name}`
    return refusal('upstream_unauthorized', CHANNEL_STATUS, `${fault} (${what}); ${keyAdvice(reachable)}`)
  }
  if (isOutOfCredit(answer, said)) {
    const fault = `the provider’s account behind ${name} has no credit left (${what})`
    const advice = `an admin adds credit there, or sets the key of another account ${keyPlace(reachable)}`
    return refusal('upstream_quota', 402, `${fault}; ${advice}`)
  }
  if (status === 403) {
    const fault = `the provider forbids this to the key of ${name} (${what})`
    const advice = `the key may lack the right to ask for ${reachable.model}, or the request was blocked`
    return refusal('upstream_forbidden', status, `${fault}; ${advice}; ${keyAdvice(reachable)}`)
  }
  if (isModelUnknown(status, said))
    return refusal(
      'upstream_model_unknown',
      404,
      `${name} does not know the model ${reachable.model} (${what}); ${await offered(directory, reachable)}`,
    )
  if (status !== 404 && status !== 405) return undefined
  return wrongAddress(reachable, `${name} serves no models at its address (${what})`)
}

/** Without a wait to keep: with one it is about what is under way, and passes. */
const isOutOfCredit = ({ status, headers }: Pick<HttpAnswer, 'status' | 'headers'>, { code, type, words }: Said): boolean =>
  (status === 402 && headers['retry-after'] === undefined) ||
  ((status === 429 || status === 403) && (QUOTA.test(`${code} ${type}`) || QUOTA_WORDS.test(words)))

const isModelUnknown = (status: number, { code, words }: Said): boolean =>
  (status === 404 && MODEL_WORDS.test(`${code} ${words}`)) ||
  (status === 400 && (code === 'model_not_found' || NO_SUCH_MODEL.test(words)))

async function offered(directory: Pick<ModelDirectory, 'ask'>, { channel }: ReachableModel): Promise<string> {
  const { check, models } = await directory.ask(channel)
  if (!check.ok) return `which ones it offers cannot be asked: ${check.error ?? 'no answer'}`
  if (models.length === 0) return 'it lists none'
  const rest = models.length - MODELS_SHOWN
  return `it offers ${models.slice(0, MODELS_SHOWN).join(', ')}${rest > 0 ? ` and ${rest} more (parley model list --live)` : ''}`
}

/** What comes from something that is no server of models. */
export const wrongAddress = (reachable: ReachableModel, fault: string): ModelRefusal =>
  refusal(
    'upstream_bad_answer',
    CHANNEL_STATUS,
    `${fault}: its base URL is probably wrong (most end in /v1); ${addressAdvice(reachable)}`,
  )

/** An upstream that sends us elsewhere is not followed: the key must not travel. */
export const redirected = (reachable: ReachableModel, status: number): ModelRefusal =>
  refusal(
    'upstream_redirected',
    CHANNEL_STATUS,
    `channel ${reachable.channel.name} sends us elsewhere (HTTP ${status}), which is not followed: its base URL is probably wrong; ${addressAdvice(reachable)}`,
  )

/** What a client is told when there was no answer at all. */
export function unansweredRefusal(reachable: ReachableModel, failure: HttpCallFailed): ModelRefusal {
  const name = `channel ${reachable.channel.name}`
  const more = { cause: failure }
  if (failure.code === 'silent')
    return new ModelRefusal(504, 'upstream_timeout', `the model did not answer ${name} in time`, more)
  if (isAboutTls(failure))
    return wrongAddress(reachable, `${name} has no secure connection that could be trusted: ${causeText(failure)}`)
  return failure.code === 'unreachable'
    ? new ModelRefusal(502, 'upstream_unreachable', unreachableText(reachable, failure), more)
    : new ModelRefusal(502, 'upstream_cut', `${name} broke off before it answered: ${causeText(failure)}`, more)
}

/** Host and port are named, as models.list names them: without them nobody can tell a wrong address from a server that is down. */
function unreachableText(reachable: ReachableModel, failure: HttpCallFailed): string {
  const { name, baseUrl } = reachable.channel
  const where = baseUrl === null ? '' : ` at ${hostAndPort(baseUrl)}`
  const check = 'check that its server runs and its base URL is right'
  return `channel ${name} cannot be reached${where}: ${causeText(failure)}; ${check}; ${addressAdvice(reachable)}`
}

const refusal = (code: string, status: number, message: string): ModelRefusal => new ModelRefusal(status, code, message)
