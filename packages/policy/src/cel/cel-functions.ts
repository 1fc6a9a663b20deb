import {
  type CelFunc,
  type CelList,
  type CelMap,
  CelScalar,
  type CelValue,
  celFunc,
  celList,
  celMethod,
  isCelList,
  isCelMap,
  listType,
  mapType,
} from '@bufbuild/cel'
import { CEL_LIMITS } from './cel-limits.ts'
import type { Charges } from './meter.ts'
import type { Patterns } from './patterns.ts'

const { BOOL, DOUBLE, DYN, INT, STRING } = CelScalar
const LIST = listType(DYN)
const MAP = mapType(DYN, DYN)

/** Functions that no expression can name: they are written into it. */
export const STEP = '@step'
export const RANGE = '@range'
export const HAS = '@has'
export const WEIGH = '@weigh'
export const WEIGH_LIST = '@weigh_list'
export const APPEND = '@append'

const PLAIN = /^[\w \-/:@=,;%&~!#<>"']*$/
const INTEGER = /^-?[0-9]{1,19}$/
const DECIMAL = /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/

/** The library's functions again where their time goes by the size of what strangers send: these are charged for it. */
export function meteredFunctions(meter: Charges, patterns: Patterns): CelFunc[] {
  const grown = new WeakMap<CelList, CelValue[]>()
  return [
    celFunc(STEP, [INT, BOOL], BOOL, (cost, goesOn) => {
      meter.charge(Number(cost))
      return goesOn
    }),
    celFunc(RANGE, [DYN], DYN, (range) => {
      if (isCelList(range) || isCelMap(range)) meter.charge(range.size)
      return range
    }),
    celFunc(WEIGH, [DYN], DYN, (value) => {
      weigh(value, meter)
      return value
    }),
    // A key is found in a map at once, however large it is; a list is looked through.
    celFunc(WEIGH_LIST, [DYN], DYN, (value) => {
      if (isCelList(value)) weigh(value, meter)
      return value
    }),
    // What a macro gathers is nobody else's, so it grows in place: a copy for each item would cost the square of their number.
    celFunc(APPEND, [LIST, LIST], LIST, (all, added) => {
      meter.charge(added.size * CEL_LIMITS.appendCost)
      const values = grown.get(all)
      if (values !== undefined) {
        values.push(...added)
        return all
      }
      const fresh = [...all, ...added]
      const list = celList(fresh)
      grown.set(list, fresh)
      return list
    }),
    celFunc('_+_', [LIST, LIST], LIST, (left, right) => {
      meter.charge(left.size + right.size)
      return celList([...left, ...right])
    }),
    celFunc('_+_', [STRING, STRING], STRING, (left, right) => {
      meter.chargeChars(left.length + right.length)
      return left + right
    }),
    ...orders(meter),
    ...keyed('@in', hasKey),
    // Of a map and nothing else: what looks like `has` of a list must fail, as it does in CEL.
    celFunc(HAS, [STRING, MAP], BOOL, hasKey),
    celFunc('size', [STRING], INT, (text) => sizeOf(text, meter)),
    celMethod('size', STRING, [], INT, function size() {
      return sizeOf(this, meter)
    }),
    celMethod('contains', STRING, [STRING], BOOL, function contains(part) {
      meter.chargeChars(this.length)
      return this.includes(part)
    }),
    celMethod('startsWith', STRING, [STRING], BOOL, function startsWith(part) {
      meter.chargeChars(part.length)
      return this.startsWith(part)
    }),
    celMethod('endsWith', STRING, [STRING], BOOL, function endsWith(part) {
      meter.chargeChars(part.length)
      return this.endsWith(part)
    }),
    celMethod('matches', STRING, [STRING], BOOL, function matches(pattern) {
      if (isPlain(pattern)) {
        meter.chargeChars(this.length)
        return this.includes(pattern)
      }
      const compiled = patterns.compile(pattern)
      meter.charge((this.length * compiled.programSize()) / CEL_LIMITS.matchPerCost)
      return compiled.test(this)
    }),
    celFunc('int', [STRING], INT, (text) => {
      if (!INTEGER.test(text)) throw new Error('this text is no integer')
      return BigInt.asIntN(64, BigInt(text)) === BigInt(text) ? BigInt(text) : outOfRange()
    }),
    celFunc('double', [STRING], DOUBLE, (text) => {
      if (text.length > CEL_LIMITS.convertedChars || !DECIMAL.test(text)) throw new Error('this text is no number')
      return Number(text)
    }),
  ]
}

/** A pattern in which nothing means anything but itself is looked for as a text, which is faster by orders of magnitude. */
const isPlain = (pattern: string): boolean => PLAIN.test(pattern)

/** `<` and the like, of texts: those that begin alike are looked through. */
function orders(meter: Charges): CelFunc[] {
  const order = (name: string, isSo: (left: string, right: string) => boolean): CelFunc =>
    celFunc(name, [STRING, STRING], BOOL, (left, right) => {
      meter.chargeChars(Math.min(left.length, right.length))
      return isSo(left, right)
    })
  return [
    order('_<_', (left, right) => left < right),
    order('_<=_', (left, right) => left <= right),
    order('_>_', (left, right) => left > right),
    order('_>=_', (left, right) => left >= right),
  ]
}

/** The library takes a member that is null for none. To a stranger's server it is one. */
const hasKey = (key: string | bigint | number | boolean, map: CelMap): boolean => map.get(key) !== undefined

function keyed(name: string, has: typeof hasKey): CelFunc[] {
  return [
    celFunc(name, [STRING, MAP], BOOL, has),
    celFunc(name, [INT, MAP], BOOL, has),
    celFunc(name, [DOUBLE, MAP], BOOL, has),
    celFunc(name, [BOOL, MAP], BOOL, has),
  ]
}

/** Characters, not units of UTF-16. */
function sizeOf(text: string, meter: Charges): bigint {
  meter.chargeChars(text.length)
  let size = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.codePointAt(at) ?? 0
    if (code > 0xffff) at += 1
    size += 1
  }
  return BigInt(size)
}

/** Everything in a value, which whoever compares it may look at. */
function weigh(value: CelValue, meter: Charges): void {
  meter.charge(1)
  if (typeof value === 'string') meter.chargeChars(value.length)
  else if (isCelList(value)) for (const item of value) weigh(item, meter)
  else if (isCelMap(value))
    for (const [key, item] of value) {
      if (typeof key === 'string') meter.chargeChars(key.length)
      weigh(item, meter)
    }
}

function outOfRange(): never {
  throw new Error('this number does not fit into 64 bits')
}
