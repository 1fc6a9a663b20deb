import { parseArgs } from 'node:util'
import { messageOf } from '@parley/protocol/wire'

/** What is run again and again, and how. */
export interface Order {
  /** Only tests whose path contains one of these; all when empty. */
  readonly paths: readonly string[]
  readonly times: number
  /** With every core busy. */
  readonly load: boolean
  /** Of the first run; each further one has the next. */
  readonly seed: number
  /** Only this part. */
  readonly part?: string
}

export type Asked =
  | { readonly kind: 'run'; readonly order: Order }
  | { readonly kind: 'resume' }
  | { readonly kind: 'help'; readonly words: string }
  | { readonly kind: 'wrong'; readonly words: string }

export const USAGE = 'npm run flake -- [PATH…] [--times N] [--load] [--seed N] [--part NAME] | --resume'
const DEFAULT_TIMES = 3
export const TIMES_LIMIT = 1_000
export const SEED_LIMIT = 2 ** 31

/** Reads the command line. `freshSeed` is taken when none is named. */
export function readArguments(argv: readonly string[], freshSeed: number): Asked {
  try {
    const { values, positionals: paths } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        times: { type: 'string' },
        seed: { type: 'string' },
        part: { type: 'string' },
        load: { type: 'boolean' },
        resume: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    if (values.help === true) return { kind: 'help', words: USAGE }
    if (values.resume === true) return resume(Object.keys(values).length + paths.length)
    const times = number('--times', values.times, DEFAULT_TIMES, TIMES_LIMIT)
    const seed = number('--seed', values.seed, freshSeed, SEED_LIMIT)
    const part = values.part === undefined ? {} : { part: values.part }
    return { kind: 'run', order: { paths, times, seed, load: values.load === true, ...part } }
  } catch (error) {
    return { kind: 'wrong', words: `${messageOf(error)}\n${USAGE}` }
  }
}

function resume(count: number): Asked {
  if (count > 1) throw new RangeError('--resume stands alone: it goes on as the run before was started')
  return { kind: 'resume' }
}

function number(name: string, text: string | undefined, otherwise: number, limit: number): number {
  if (text === undefined) return otherwise
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1 || value > limit)
    throw new RangeError(`${name} takes a whole number from 1 to ${limit}`)
  return value
}
