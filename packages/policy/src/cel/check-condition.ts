import type { Constant, Expr, Expr_Call, Expr_Comprehension, Expr_Select } from '@bufbuild/cel-spec/cel/expr/syntax_pb.js'
import { CEL_LIMITS } from './cel-limits.ts'
import {
  FUNCTIONS,
  isVariable,
  mayBe,
  KNOWN_FIELDS,
  METHODS,
  type Signature,
  type StaticType,
  type VariableName,
  VARIABLES,
} from './cel-types.ts'
import { ConditionFault } from './condition-fault.ts'
import type { Patterns } from './patterns.ts'

/** The variables of macros around a part, and how many macros those are. */
interface Scope {
  readonly variables: ReadonlyMap<string, StaticType>
  readonly loops: number
}

/** What a condition looks at. */
export interface CheckedCondition {
  readonly uses: ReadonlySet<VariableName>
}

/** Finds what can be known to be wrong before a call comes. Throws `ConditionFault`. */
export function checkCondition(expr: Expr, patterns: Patterns): CheckedCondition {
  const checker = new Checker(patterns)
  const type = checker.typeOf(expr, { variables: new Map(), loops: 0 })
  if (!mayBe(type, 'bool'))
    throw new ConditionFault(`the condition is a ${type}`, 'compare it with something: it must be true or false')
  return { uses: checker.uses }
}

class Checker {
  readonly uses = new Set<VariableName>()
  readonly #patterns: Patterns
  #nodes = 0

  constructor(patterns: Patterns) {
    this.#patterns = patterns
  }

  typeOf(expr: Expr | undefined, scope: Scope): StaticType {
    this.#nodes += 1
    if (this.#nodes > CEL_LIMITS.nodes)
      throw new ConditionFault(`the condition has more than ${CEL_LIMITS.nodes} parts`, 'divide it among several rules')
    const kind = expr?.exprKind
    switch (kind?.case) {
      case 'constExpr':
        return constantType(kind.value)
      case 'identExpr':
        return this.#variable(kind.value.name, scope)
      case 'selectExpr':
        return this.#member(kind.value, scope)
      case 'callExpr':
        return this.#call(kind.value, scope)
      case 'listExpr':
        for (const element of kind.value.elements) this.typeOf(element, scope)
        return 'list'
      case 'structExpr':
        if (kind.value.messageName !== '')
          throw new ConditionFault(`there is no type ${kind.value.messageName} here`, 'use a map')
        for (const { keyKind, value } of kind.value.entries) {
          if (keyKind.case === 'mapKey') this.typeOf(keyKind.value, scope)
          this.typeOf(value, scope)
        }
        return 'map'
      case 'comprehensionExpr':
        return this.#loop(kind.value, scope)
      case undefined:
        throw new ConditionFault('the condition has a part that is not known here', 'write it in another way')
    }
  }

  #variable(name: string, { variables }: Scope): StaticType {
    const own = variables.get(name)
    if (own !== undefined) return own
    if (!isVariable(name)) throw new ConditionFault(`there is no ${name} here`, `there are ${Object.keys(VARIABLES).join(', ')}`)
    this.uses.add(name)
    return VARIABLES[name]
  }

  #member({ operand, field, testOnly }: Expr_Select, scope: Scope): StaticType {
    const type = this.typeOf(operand, scope)
    if (!mayBe(type, 'map')) throw new ConditionFault(`.${field} is looked for in a ${type}`, 'only maps have members')
    const owner = operand?.exprKind.case === 'identExpr' ? operand.exprKind.value.name : ''
    const members = scope.variables.has(owner) ? undefined : KNOWN_FIELDS[owner]
    if (members !== undefined && !Object.hasOwn(members, field))
      throw new ConditionFault(`there is no ${field} there`, `there are ${Object.keys(members).join(', ')}`)
    return testOnly ? 'bool' : (members?.[field] ?? 'dyn')
  }

  #call({ function: name, target, args }: Expr_Call, scope: Scope): StaticType {
    const types = (target === undefined ? args : [target, ...args]).map((part) => this.typeOf(part, scope))
    switch (name) {
      case '_&&_':
      case '_||_':
        for (const type of types)
          if (!mayBe(type, 'bool')) throw new ConditionFault(`a ${type} is no condition`, 'compare it with something')
        return 'bool'
      case '_==_':
      case '_!=_':
        return equality(types)
      case '_?_:_':
        return choice(types)
      default:
        if (name === 'matches') this.#pattern(args[0])
        if (name.startsWith('get') && args.length > 0) zone(args[0], scope)
        return result(name, target === undefined ? FUNCTIONS.get(name) : METHODS.get(name), types)
    }
  }

  /** A pattern that came with the call would be a stranger's. */
  #pattern(pattern: Expr | undefined): void {
    const text = textOf(pattern)
    if (text === undefined) throw new ConditionFault('the pattern of matches is not written out', 'write it as a text in quotes')
    this.#patterns.compile(text)
  }

  #loop(
    { iterRange, iterVar, accuVar, accuInit, loopCondition, loopStep, result: ending }: Expr_Comprehension,
    scope: Scope,
  ): StaticType {
    if (scope.loops >= CEL_LIMITS.loops)
      throw new ConditionFault(`more than ${CEL_LIMITS.loops} macros are inside of each other`, 'look at less at once')
    const range = this.typeOf(iterRange, scope)
    if (!mayBe(range, 'list') && range !== 'map')
      throw new ConditionFault(`a macro goes through a ${range}`, 'it needs a list or a map')
    const init = this.typeOf(accuInit, scope)
    const inside: Scope = {
      variables: new Map([...scope.variables, [iterVar, 'dyn'], [accuVar, init]]),
      loops: scope.loops + 1,
    }
    this.typeOf(loopCondition, inside)
    this.typeOf(loopStep, inside)
    return this.typeOf(ending, { ...inside, loops: scope.loops })
  }
}

/** The text of a literal. */
function textOf(expr: Expr | undefined): string | undefined {
  const kind = expr?.exprKind
  if (kind?.case !== 'constExpr' || kind.value.constantKind.case !== 'stringValue') return undefined
  return kind.value.constantKind.value
}

const CONSTANTS: Readonly<Record<string, StaticType>> = {
  boolValue: 'bool',
  int64Value: 'int',
  doubleValue: 'double',
  stringValue: 'string',
  nullValue: 'null',
}

function constantType({ constantKind }: Constant): StaticType {
  const type = CONSTANTS[constantKind.case ?? '']
  if (type !== undefined) return type
  throw new ConditionFault('bytes and unsigned numbers are not known here', 'arguments are JSON: they have neither')
}

const isNumber = (type: StaticType): boolean => type === 'int' || type === 'double'

function equality([left = 'dyn', right = 'dyn']: readonly StaticType[]): StaticType {
  if (!mayBe(left, right) && !(isNumber(left) && isNumber(right)))
    throw new ConditionFault(`a ${left} is compared with a ${right}`, 'they are never equal')
  return 'bool'
}

function choice([condition = 'dyn', first = 'dyn', second = 'dyn']: readonly StaticType[]): StaticType {
  if (!mayBe(condition, 'bool')) throw new ConditionFault(`a ${condition} is no condition`, 'compare it with something')
  return first === second ? first : 'dyn'
}

/** A zone is looked up in tables, which takes long, and it must be one. */
function zone(name: Expr | undefined, { loops }: Scope): void {
  const text = textOf(name)
  if (text === undefined || loops > 0)
    throw new ConditionFault('a time zone is not written out, or inside of a macro', 'write it in quotes, outside of macros')
  if (!isZone(text)) throw new ConditionFault(`there is no time zone ${text}`, 'write one like "Europe/Vienna" or "+02:00"')
}

function isZone(text: string): boolean {
  try {
    return /^[+-]?\d\d:\d\d$/.test(text) || Intl.DateTimeFormat('en-US', { timeZone: text }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

const MACROS = ['has', 'all', 'exists', 'exists_one', 'map', 'filter']
const NAMED = [...new Set([...FUNCTIONS.keys(), ...METHODS.keys()])].filter((name) => /^[a-z]/i.test(name)).concat(MACROS)

function result(name: string, signatures: readonly Signature[] | undefined, types: readonly StaticType[]): StaticType {
  const shown = name.replaceAll(/[_@]/g, '')
  if (signatures === undefined) throw new ConditionFault(`there is no function ${shown} here`, `there are ${NAMED.join(', ')}`)
  const fitting = signatures.filter(
    ({ takes }) => takes.length === types.length && takes.every((wanted, at) => mayBe(types[at] ?? 'dyn', wanted)),
  )
  if (fitting.length === 0)
    throw new ConditionFault(
      `${shown} does not take ${types.join(' and ') || 'nothing'}`,
      'arguments are JSON, whose numbers are doubles: 1.0',
    )
  const [first] = fitting
  return first !== undefined && fitting.every(({ gives }) => gives === first.gives) ? first.gives : 'dyn'
}
