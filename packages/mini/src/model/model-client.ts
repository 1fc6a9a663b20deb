import { type HttpFetcher } from '@parley/fetch'
import { secondsText } from '@parley/agent'
import type { ModelAnswer, ModelClient, ModelEndpoint, ModelListener, ModelRequest } from './model.ts'
import { type AttemptOptions, attempt } from './attempt.ts'
import { readyEndpoint } from './endpoint.ts'
import type { ModelFault } from './fault.ts'
import { MODEL_LIMITS, type ModelLimits } from './model-limits.ts'
import { pause } from './pause.ts'
import { Tolerance } from './tolerance.ts'
import { WIRES } from './wires.ts'

export interface ModelClientOptions {
  readonly endpoint: ModelEndpoint
  /** Connecting is its business, and so is the bound on it. */
  readonly http: HttpFetcher
  readonly limits?: Partial<ModelLimits>
  /** Milliseconds. */
  readonly now: () => number
  readonly random: (size: number) => Uint8Array
  /** Waits between two tries; settles at once when the signal fires. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
}

/**
 * Asks a model over either wire, and again where that may help: after waits that grow, and after leaving out what the
 * provider turned out not to know, which is remembered for as long as the client lives.
 */
export function openModelClient(options: ModelClientOptions): ModelClient {
  const endpoint = readyEndpoint(options.endpoint)
  const limits = { ...MODEL_LIMITS, ...options.limits }
  const wire = WIRES[options.endpoint.wire]
  const tolerances = new Map<string, Tolerance>()
  const { http, now, random } = options
  const id = idsFrom(random)

  const toleranceOf = (model: string): Tolerance => {
    const known = tolerances.get(model)
    if (known !== undefined) return known
    if (tolerances.size >= limits.rememberedModels) tolerances.clear()
    const fresh = new Tolerance()
    tolerances.set(model, fresh)
    return fresh
  }

  return {
    async sample(request: ModelRequest, listener: ModelListener, signal: AbortSignal): Promise<ModelAnswer> {
      const tolerance = toleranceOf(request.model)
      const tries = new Tries(limits, random)
      for (let number = 1; !signal.aborted; number++) {
        const body = wire.body(request, tolerance)
        const { leftOut } = tolerance
        const learn: AttemptOptions['learn'] = ({ error }) =>
          error !== undefined && tries.mayRelax ? tolerance.learn(error, request, body) : undefined
        const reader = wire.reader({ listener, limits, id })
        const shared = { http, endpoint, limits, now, id, listener, signal }
        const { outcome, learned } = await attempt({ ...shared, number, body, leftOut, reader, learn })
        if (outcome.kind !== 'failed') return outcome
        const { code, message, brief = message } = outcome.fault
        const waitMs = learned === undefined ? tries.waitAfter(outcome.fault) : tries.relaxed()
        if (waitMs === undefined) return { kind: 'failed', code, message: `${message}${tries.givenUp}` }
        const reason = learned === undefined ? message : `${message}; asked again ${learned}`
        listener.retry({ attempt: number + 1, most: number + tries.left(code), waitMs, brief, reason })
        if (waitMs > 0) await (options.sleep ?? pause)(waitMs, signal)
      }
      return { kind: 'aborted' }
    },
  }
}

const ID_BYTES = 12
/** Ids that are drawn at once: each call for random bytes costs more than the bytes do. */
const IDS_DRAWN = 64

function idsFrom(random: (size: number) => Uint8Array): (prefix: string) => string {
  let drawn = ''
  let next = 0
  return (prefix) => {
    if (next >= drawn.length) {
      drawn = Buffer.from(random(ID_BYTES * IDS_DRAWN)).toString('hex')
      next = 0
    }
    next += ID_BYTES * 2
    return `${prefix}_${drawn.slice(next - ID_BYTES * 2, next)}`
  }
}

const RANDOM_MAX = 0xff_ff

/** Counts the tries of one request and says how long to wait for the next, or that there is none. */
class Tries {
  readonly #limits: ModelLimits
  readonly #random: (size: number) => Uint8Array
  #failed = 0
  #malformed = 0
  #silent = 0
  #relaxed = 0
  #waitedMs = 0

  constructor(limits: ModelLimits, random: (size: number) => Uint8Array) {
    this.#limits = limits
    this.#random = random
  }

  /** How many more there may be if they all fail in this way. */
  left(code: ModelFault['code']): number {
    const { attempts, malformedAttempts, silentAttempts } = this.#limits
    const left = attempts - this.#failed
    if (code === 'model_malformed') return Math.min(left, malformedAttempts - this.#malformed)
    return code === 'model_timeout' ? Math.min(left, silentAttempts - this.#silent) : left
  }

  /** What to add to the words of the last failure. */
  get givenUp(): string {
    if (this.#failed < 2) return ''
    return `; given up after ${this.#failed} tries and ${secondsText(this.#waitedMs)} of waiting`
  }

  get mayRelax(): boolean {
    return this.#relaxed < this.#limits.relaxations
  }

  relaxed(): number {
    this.#relaxed += 1
    return 0
  }

  /** Half of each wait is random, so that clients that failed at the same moment do not all ask again at the same moment. */
  waitAfter({ retry, code, waitMs }: ModelFault): number | undefined {
    const { attempts, malformedAttempts, silentAttempts, firstWaitMs, longestWaitMs, waitedMs } = this.#limits
    this.#failed += 1
    if (code === 'model_malformed') this.#malformed += 1
    if (code === 'model_timeout') this.#silent += 1
    if (!retry || this.#failed >= attempts) return undefined
    if (this.#malformed >= malformedAttempts || this.#silent >= silentAttempts) return undefined
    const grown = Math.min(firstWaitMs * 2 ** (this.#failed - 1), longestWaitMs)
    const chance = Math.ceil((grown / 2) * this.#chance())
    // The wait is at least what the provider asked for, with a random part added so that clients do not come back all at once.
    const wait = waitMs === undefined ? Math.ceil(grown / 2) + chance : waitMs + Math.ceil(chance / 4)
    if (this.#waitedMs + wait > waitedMs) return undefined
    this.#waitedMs += wait
    return wait
  }

  #chance(): number {
    const [high = 0, low = 0] = this.#random(2)
    return (high * 256 + low) / RANDOM_MAX
  }
}
