import { SeededRandom } from './random.ts'

/**
 * What must become of a message:
 * `unparsable`: it is no JSON or no UTF-8 at all; `refused`: it is JSON but no message; `served`: it is a message, and the
 * answer says what is wrong with it; `either`: the specification leaves it open; `silent`: nobody waits for an answer.
 */
export type Fate = 'unparsable' | 'refused' | 'served' | 'either' | 'silent'

export interface Malformed {
  readonly kind: string
  readonly fate: Fate
  readonly bytes: Buffer
  /** The id under which an answer may come. */
  readonly id: number
}

type Maker = (random: SeededRandom, id: number) => Omit<Malformed, 'kind' | 'id'>

const json = (fate: Fate, value: unknown): Omit<Malformed, 'kind' | 'id'> => ({ fate, bytes: Buffer.from(JSON.stringify(value)) })
const raw = (fate: Fate, text: string): Omit<Malformed, 'kind' | 'id'> => ({ fate, bytes: Buffer.from(text) })
const message = (id: unknown, method: unknown, params: unknown): object => ({ jsonrpc: '2.0', id, method, params })

const ODD: readonly unknown[] = [null, true, 0, -1, 1.5, '', 'text', [], {}, [[]], [null], { a: { b: [] } }]
const DEEPEST = 20_000
const SHALLOWEST_TOO_DEEP = 200
const HUGE_ID_CHARS = 200_000

const MAKERS: Readonly<Record<string, Maker>> = {
  'not json': (random) =>
    raw(
      'unparsable',
      random.pick(['{', '[1,', 'nul', '{"jsonrpc"', "{'a':1}", '\u0000', '}{', '"open', '{"a":01}', 'NaN', '{"a":1,}']),
    ),
  'cut off': (random, id) => {
    const whole = JSON.stringify(
      message(id, 'tools/call', { name: 'echo', arguments: { text: 'x'.repeat(random.between(1, 500)) } }),
    )
    return raw('unparsable', whole.slice(0, random.between(1, whole.length - 1)))
  },
  'bad UTF-8': (random, id) => {
    const [before, after] = JSON.stringify(message(id, 'ping', { a: 'HERE' })).split('HERE')
    const bad = random.pick([[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82], [0x80]])
    return { fate: 'unparsable', bytes: Buffer.concat([Buffer.from(before ?? ''), Buffer.from(bad), Buffer.from(after ?? '')]) }
  },
  'too deep': (random, id) => {
    const depth = random.between(SHALLOWEST_TOO_DEEP, DEEPEST)
    const nest = random.pick([['[', ']'] as const, ['{"a":', '}'] as const])
    return raw(
      'refused',
      `{"jsonrpc":"2.0","id":${id},"method":"ping","params":{"a":${nest[0].repeat(depth)}1${nest[1].repeat(depth)}}}`,
    )
  },
  'huge id': (random) => json('either', message('9'.repeat(random.between(1_000, HUGE_ID_CHARS)), 'ping', {})),
  'number beyond numbers': (random) =>
    raw(
      'either',
      `{"jsonrpc":"2.0","id":${random.pick(['1e400', '123456789012345678901234567890', '-1e309', '1e-400'])},"method":"ping"}`,
    ),
  'odd id': (random) => json('refused', message(random.pick([true, false, {}, [], [1], { a: 1 }]), 'ping', {})),
  'odd method': (random, id) => json('refused', message(id, random.pick([null, 1, true, {}, [], '', 'a'.repeat(5_000)]), {})),
  'odd params': (random, id) => json('refused', message(id, 'ping', random.pick([1, 'text', true]))),
  'odd version': (random, id) =>
    json('refused', { ...message(id, 'ping', {}), jsonrpc: random.pick(['1.0', 2, null, '', {}, '2.0 ']) }),
  'no message': (random) => json('refused', random.pick([null, 1, 'text', true, {}, { a: 1 }, { jsonrpc: '2.0' }])),
  'unknown method': (random, id) =>
    json('served', message(id, random.pick(['no/such', 'constructor', '__proto__', 'tools/call/']), {})),
  'odd call': (random, id) => json('served', message(id, 'tools/call', { name: random.pick(ODD), arguments: random.pick(ODD) })),
  'odd arguments': (random, id) =>
    json(
      'served',
      message(id, 'tools/call', { name: 'echo', arguments: { text: random.pick(ODD.filter((odd) => typeof odd !== 'string')) } }),
    ),
  'odd cursor': (random, id) => json('either', message(id, 'tools/list', { cursor: random.pick(ODD) })),
  'odd resource': (random, id) =>
    json('served', message(id, 'resources/read', { uri: random.pick(ODD.filter((odd) => odd !== '')) })),
  'answer that nobody asked for': (random, id) =>
    json(
      'silent',
      random.pick([
        { jsonrpc: '2.0', id, result: {} },
        { jsonrpc: '2.0', id, error: { code: 1, message: 'no' } },
      ]),
    ),
  'odd notification': (random) =>
    json('silent', {
      jsonrpc: '2.0',
      method: random.pick(['notifications/cancelled', 'notifications/progress', 'no/such']),
      params: { requestId: random.pick(ODD), progressToken: random.pick(ODD) },
    }),
  'dangerous keys': (_random, id) =>
    raw(
      'either',
      `{"jsonrpc":"2.0","id":${id},"method":"ping","__proto__":{"polluted":true},"params":{"constructor":{"prototype":{"polluted":true}}}}`,
    ),
}
const KINDS = Object.keys(MAKERS)

/** The malformed message of a number; every kind comes about equally often. Who sends it and when changes nothing. */
export function malformedMessage(seed: number, id: number): Malformed {
  const random = randomOf(seed, id)
  const kind = random.pick(KINDS)
  const make = MAKERS[kind]
  if (make === undefined) throw new Error(kind)
  return { kind, id, ...make(random, id) }
}

/** Randomness that belongs to one message, so that a seed repeats a run however its connections take turns. */
export function randomOf(seed: number, number: number): SeededRandom {
  return new SeededRandom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number, 0x85ebca6b))
}
