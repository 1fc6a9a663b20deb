import type { Value } from '@bufbuild/cel-spec/cel/expr/value_pb.js'
import { getConformanceSuite, type IncrementalTestSuite } from '@bufbuild/cel-spec/testdata/tests.js'
import { expect, test } from 'vitest'
import { TEST_CALL } from '../fixture/test-call.ts'
import { callValues } from './call-values.ts'
import { compileCondition } from './condition.ts'
import { CostMeter } from './meter.ts'

/** Parts of the suite that are about protobuf messages, extensions, and what is found out only while types are checked. */
const ELSEWHERE = new Set([
  'proto2',
  'proto3',
  'proto2_ext',
  'enums',
  'wrappers',
  'optionals',
  'block_ext',
  'network_ext',
  'math_ext',
  'encoders_ext',
  'string_ext',
  'bindings_ext',
  'macros2',
  'type_deduction',
  'unknowns',
  'dynamic',
])

function literalOf({ kind }: Value): string | undefined {
  switch (kind.case) {
    case 'int64Value':
      return String(kind.value)
    case 'doubleValue':
      return /^-?\d+$/.test(String(kind.value)) ? `${kind.value}.0` : String(kind.value)
    case 'stringValue':
      return JSON.stringify(kind.value)
    case 'boolValue':
      return String(kind.value)
    case 'nullValue':
      return 'null'
    case 'listValue': {
      const items = kind.value.values.map(literalOf)
      return items.includes(undefined) ? undefined : `[${items.join(', ')}]`
    }
    case 'bytesValue':
    case 'enumValue':
    case 'mapValue':
    case 'objectValue':
    case 'typeValue':
    case 'uint64Value':
    case undefined:
      return undefined
  }
}

interface Asked {
  readonly name: string
  readonly condition: string
  readonly fails: boolean
}

function askedOf(file: IncrementalTestSuite): readonly Asked[] {
  return [...file.tests, ...file.suites.flatMap(({ tests }) => tests)].flatMap(({ name, original }): readonly Asked[] => {
    if (original.container !== '' || Object.keys(original.bindings).length > 0) return []
    const { expr, resultMatcher: expected } = original
    if (expected.case === 'evalError' || expected.case === 'anyEvalErrors')
      return [{ name, condition: `dyn(${expr}\n) == null`, fails: true }]
    if (expected.case === undefined) return [{ name, condition: expr, fails: false }]
    const literal = expected.case === 'value' ? literalOf(expected.value) : undefined
    return literal === undefined ? [] : [{ name, condition: `(${expr}\n) == ${literal}`, fails: false }]
  })
}

test('what CEL’s own suite says of JSON is so here, or is refused when a policy is read; it is never otherwise', () => {
  const count = { right: 0, refused: 0 }
  const wrong: string[] = []
  for (const file of getConformanceSuite().suites.filter(({ name }) => !ELSEWHERE.has(name)))
    for (const { name, condition, fails } of askedOf(file)) {
      const compiled = compileCondition(condition)
      if (compiled.kind === 'fault') count.refused += 1
      else {
        const meter = new CostMeter()
        const held = compiled.condition.holds(callValues(TEST_CALL, meter), meter)
        const isRight = fails ? held.kind === 'failed' : held.kind === 'held' && held.holds
        if (isRight) count.right += 1
        else wrong.push(`${file.name} ${name}: ${condition} is ${JSON.stringify(held)}`)
      }
    }
  expect(wrong).toEqual([])
  expect(count).toEqual({ right: 666, refused: 285 })
})
