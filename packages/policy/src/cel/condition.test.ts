import type { JsonValue } from '@parley/protocol'
import { describe, expect, test } from 'vitest'
import { callOf } from '../fixture/test-call.ts'
import { callValues } from './call-values.ts'
import { compileCondition, type ConditionResult } from './condition.ts'
import { CostMeter } from './meter.ts'

const YES: ConditionResult = { kind: 'held', holds: true }
const USED_UP = 'all that is looked at for one call costs more than 50000'
const NO: ConditionResult = { kind: 'held', holds: false }

function held(condition: string, args: JsonValue = {}): ConditionResult | string {
  const compiled = compileCondition(condition)
  if (compiled.kind === 'fault') return compiled.message
  const meter = new CostMeter()
  return compiled.condition.holds(callValues(callOf({ arguments: args }), meter), meter)
}

test.each<[string, JsonValue, ConditionResult]>([
  ['args.path.startsWith("/src/") && !args.path.contains("..")', { path: '/src/a' }, YES],
  ['args.path.startsWith("/src/") && !args.path.contains("..")', { path: '/src/../a' }, NO],
  ['args.path.matches("\\\\.(ts|js)$")', { path: 'x.ts' }, YES],
  ['args.n > 5 && args.n == 7 && args.n in [6, 7]', { n: 7 }, YES],
  ['args.n + 1.0 == 8.0 && args.n * 2.0 > 13', { n: 7 }, YES],
  ['args.tags.exists(t, t == "x") && args.tags.all(t, size(t) < 3)', { tags: ['x', 'yy'] }, YES],
  ['args.tags.map(t, t + "!").filter(t, t != "x!") == ["y!"]', { tags: ['x', 'y'] }, YES],
  ['args.tags.exists_one(t, t == "x")', { tags: ['x', 'x'] }, NO],
  ['size(args.text) == 2', { text: '🎈é' }, YES],
  ['has(args.a) && !has(args.b) && "a" in args && !("b" in args)', { a: 1 }, YES],
  // A member that is null is there: a server may take it for one.
  ['has(args.force) && "force" in args && args.force == null', { force: null }, YES],
  ['args == {"a": [1, 2.5, null, true, {"b": "c"}]}', { a: [1, 2.5, null, true, { b: 'c' }] }, YES],
  ['args == {"a": null}', { b: null }, NO],
  ['kind == "tool" && mount == "files" && name == "read_file"', {}, YES],
  ['agent.name == "helper" && agent.owner == "ada" && caller.role == "agent"', {}, YES],
  ['counts.turn < 1 && counts.hour + counts.day == 0', {}, YES],
  ['now >= timestamp("2026-11-18T10:00:00Z") && now.getHours("Europe/Vienna") == 11', {}, YES],
  ['now - timestamp("2026-11-18T09:00:00Z") > duration("59m")', {}, YES],
  ['int("12") == 12 && double("1.5") == 1.5 && string(3) == "3"', {}, YES],
  // What fails on one side does not matter where the other settles it.
  ['args.none == 1 || true', {}, YES],
  ['args.big == 9007199254740993.0', { big: 9007199254740992 }, YES],
])('%s of %j', (condition, args, expected) => {
  expect(held(condition, args)).toEqual(expected)
})

test.each<[string, JsonValue]>([
  ['args.path == "x"', {}],
  ['args.n + 1 == 2', { n: 1 }],
  ['args.path.startsWith("x")', { path: 7 }],
  ['args.list[3] == 1', { list: [] }],
  ['has(args.options.force)', { options: ['force'] }],
  ['has(args.options.force)', { options: 'force' }],
  ['has(args.options.force)', {}],
  ['int(args.n) == 1', { n: '0x1' }],
  ['double(args.n) == 0.0', { n: '' }],
  ['args', { a: 1 }],
  ['1 / int(args.n) == 1', { n: '0' }],
])('%s fails for %j', (condition, args) => {
  expect(held(condition, args)).toMatchObject({ kind: 'failed' })
})

test.each<[string, string]>([
  ['path == "x"', 'there is no path here'],
  ['constructor == "x"', 'there is no constructor here'],
  ['counts.week > 1', 'there is no week there'],
  ['counts.hour > "5"', '> does not take int and string'],
  ['name == 1', 'a string is compared with a int'],
  ['name', 'the condition is a string'],
  ['args.path.like("x")', 'there is no function like here'],
  ['args.text.matches(args.pattern)', 'the pattern of matches is not written out'],
  ['args.text.matches("(a")', '(a is no pattern: error parsing regexp: missing closing ): `(a`'],
  ['args.text.matches("(?=a)b")', '(?=a)b is no pattern: error parsing regexp: invalid or unsupported Perl syntax: `(?=`'],
  ['args.text.matches("(a{30}){30}")', 'the pattern (a{30}){30} is too large when its repetitions are written out'],
  ['now.getHours("Mars/Olympus") > 1', 'there is no time zone Mars/Olympus'],
  ['args.l.all(x, now.getHours("UTC") > 1)', 'a time zone is not written out, or inside of a macro'],
  ['args.a.all(x, args.b.all(y, args.c.all(z, x == z)))', 'more than 2 macros are inside of each other'],
  ['b"x" == args.b', 'bytes and unsigned numbers are not known here'],
  ['Secret{a: 1} == args', 'there is no type Secret here'],
])('%s is refused', (condition, problem) => {
  expect(held(condition)).toEqual(expect.stringContaining(problem))
})

test('a condition is bounded in length, depth and parts', () => {
  expect(held(`${'('.repeat(33)}true${')'.repeat(33)}`)).toBe('more than 32 brackets are inside of each other')
  expect(held(Array.from({ length: 150 }, () => 'args.a').join('||'))).toBe('the condition has more than 400 parts')
  expect(held('!'.repeat(1_999))).toMatch(/^it cannot be read: /)
  expect(held('x'.repeat(2_001))).toBe('it has more than 2000 characters')
})

describe('a condition ends soon, whatever it is and whatever strangers send', () => {
  const many = Array.from({ length: 5_000 }, (_, at) => `item ${at}`)
  const text = 'ab'.repeat(500_000)
  test.each<[string, JsonValue]>([
    ['args.l.exists(x, args.l.exists(y, y == "none"))', { l: many }],
    ['args.l.all(x, args.l == args.l)', { l: many }],
    ['args.l.all(x, !(x in args.l) || x in args.l)', { l: many }],
    ['args.l.map(x, args.l).size() > 0 && args.l.all(x, size(args.l.map(y, y)) > 0)', { l: many }],
    [`[args.l]${'.map(a, a + a)'.repeat(20)}.size() == 1`, { l: many }],
    [`[args.t]${'.map(a, a + a)'.repeat(20)}.size() == 1`, { t: text }],
    ['args.l.exists(x, args.t.contains("none"))', { l: many, t: text }],
    ['args.l.all(x, size(args.t) > 0)', { l: many, t: text }],
    ['args.l.all(x, args.t <= args.u)', { l: many, t: text, u: `${text}c` }],
    ['args.l.exists(x, args.t == args.u)', { l: many, t: text, u: `${text.slice(1)}a` }],
    ['args.t.matches("(a.{90}b|c.{90}d|.{200}x)$")', { t: text }],
    // An error that is passed over does not make it cheaper.
    ['args.l.exists(x, args.l.exists(y, y == "none")) || true', { l: many }],
  ])('%s', (condition, args) => {
    expect(held(condition, args)).toEqual({ kind: 'failed', reason: USED_UP })
  })

  test('a pattern runs in linear time', () => {
    expect(held('args.t.matches("^(a+)+$")', { t: `${'a'.repeat(5_000)}!` })).toEqual(NO)
  })

  test('lists and texts of an ordinary size are no matter', () => {
    expect(held('args.l.map(x, x + "!").all(x, x.startsWith("item"))', { l: many.slice(0, 2_000) })).toEqual(YES)
    expect(held('args.l.exists(x, x == "none")', { l: many })).toEqual(NO)
    expect(held('args.t.contains("none") || args.t.matches("none")', { t: 'ab'.repeat(300_000) })).toEqual(NO)
    expect(held('args.t.matches("[.](ts|js)$") || args.t.matches("^[^b]*$")', { t: 'ab'.repeat(3_000) })).toEqual(NO)
  })
})

test('arguments that are too much to look at fail, and only where they are looked at', () => {
  let deep: JsonValue = []
  for (let depth = 0; depth < 50_000; depth += 1) deep = [deep]
  expect(held('size(args) == 1', deep)).toEqual({ kind: 'failed', reason: 'the arguments are nested deeper than 64' })
  const wide = Array.from({ length: 20_001 }, () => 0)
  expect(held('size(args) == 1', wide)).toEqual({ kind: 'failed', reason: 'the arguments hold more than 20000 values' })
  expect(held('name == "read_file"', deep)).toEqual(YES)
})

test('names that mean something to JavaScript are members like any other', () => {
  const args = JSON.parse('{"__proto__": "p", "constructor": "c", "toString": 1, "hasOwnProperty": null}') as JsonValue
  expect(held('args.__proto__ == "p" && args.constructor == "c" && args["toString"] == 1 && size(args) == 4', args)).toEqual(YES)
  expect(held('has(args.hasOwnProperty) && !has(args.valueOf)', args)).toEqual(YES)
  expect(held('has(args.constructor) || has(args.__proto__) || "toString" in args', {})).toEqual(NO)
})
