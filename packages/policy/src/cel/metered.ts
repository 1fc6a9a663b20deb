import { create } from '@bufbuild/protobuf'
import { type Expr, type Expr_Call, type Expr_Comprehension, ExprSchema } from '@bufbuild/cel-spec/cel/expr/syntax_pb.js'
import { APPEND, HAS, RANGE, STEP, WEIGH, WEIGH_LIST } from './cel-functions.ts'

/** What macros gather in, as the parser names it. */
const GATHERED = '@result'

/**
 * The same expression, charged for what it does: each turn of a macro for the parts in its body, each comparison for what it may look
 * at. `has(a.b)` becomes a function of ours, which knows a member that is null.
 */
export function metered(expr: Expr): Expr {
  const kind = expr.exprKind
  switch (kind.case) {
    case 'selectExpr': {
      const operand = inside(kind.value.operand)
      if (kind.value.testOnly) return call(expr.id, HAS, [textConstant(expr.id, kind.value.field), operand])
      return create(ExprSchema, { id: expr.id, exprKind: { case: 'selectExpr', value: { ...kind.value, operand } } })
    }
    case 'callExpr':
      return meteredCall(expr.id, kind.value)
    case 'listExpr':
      return create(ExprSchema, {
        id: expr.id,
        exprKind: { case: 'listExpr', value: { ...kind.value, elements: kind.value.elements.map(metered) } },
      })
    case 'structExpr': {
      const entries = kind.value.entries.map((entry) => ({
        ...entry,
        keyKind:
          entry.keyKind.case === 'mapKey' ? { case: 'mapKey' as const, value: metered(entry.keyKind.value) } : entry.keyKind,
        value: inside(entry.value),
      }))
      return create(ExprSchema, { id: expr.id, exprKind: { case: 'structExpr', value: { ...kind.value, entries } } })
    }
    case 'comprehensionExpr':
      return meteredLoop(expr.id, kind.value)
    case 'constExpr':
    case 'identExpr':
    case undefined:
      return expr
  }
}

function meteredCall(id: bigint, { function: name, target, args }: Expr_Call): Expr {
  const parts = args.map(metered)
  const [left, right] = parts
  if ((name === '_==_' || name === '_!=_') && left !== undefined && right !== undefined)
    return isScalar(left) || isScalar(right) ? call(id, name, parts) : call(id, name, [weighed(left), weighed(right)])
  if (name === '@in' && left !== undefined && right !== undefined)
    return isScalarList(right) ? call(id, name, parts) : call(id, name, [left, weighedList(right)])
  if (name === '_+_' && left !== undefined && isGathered(left) && right?.exprKind.case === 'listExpr')
    return call(id, APPEND, parts)
  return call(id, name, parts, target === undefined ? undefined : metered(target))
}

function meteredLoop(id: bigint, loop: Expr_Comprehension): Expr {
  const { accuInit, iterRange, loopCondition, loopStep, result } = loop
  const body = inside(loopStep)
  const value = {
    ...loop,
    accuInit: inside(accuInit),
    iterRange: call(id, RANGE, [inside(iterRange)]),
    loopCondition: call(id, STEP, [intConstant(id, costOf(body)), inside(loopCondition)]),
    loopStep: body,
    result: inside(result),
  }
  return create(ExprSchema, { id, exprKind: { case: 'comprehensionExpr', value } })
}

/** What the parser leaves out stays out. */
const inside = (expr: Expr | undefined): Expr => (expr === undefined ? create(ExprSchema) : metered(expr))

const weighed = (expr: Expr): Expr => call(expr.id, WEIGH, [expr])
const weighedList = (expr: Expr): Expr => call(expr.id, WEIGH_LIST, [expr])

function call(id: bigint, name: string, args: readonly Expr[], target?: Expr): Expr {
  const value = { function: name, args: [...args], ...(target === undefined ? {} : { target }) }
  return create(ExprSchema, { id, exprKind: { case: 'callExpr', value } })
}

function textConstant(id: bigint, text: string): Expr {
  return create(ExprSchema, {
    id,
    exprKind: { case: 'constExpr', value: { constantKind: { case: 'stringValue', value: text } } },
  })
}

function intConstant(id: bigint, value: number): Expr {
  const constantKind = { case: 'int64Value' as const, value: BigInt(value) }
  return create(ExprSchema, { id, exprKind: { case: 'constExpr', value: { constantKind } } })
}

const isScalar = (expr: Expr): boolean => expr.exprKind.case === 'constExpr'
const isScalarList = ({ exprKind }: Expr): boolean => exprKind.case === 'listExpr' && exprKind.value.elements.every(isScalar)
const isGathered = ({ exprKind }: Expr): boolean => exprKind.case === 'identExpr' && exprKind.value.name === GATHERED

/** What functions cost beyond a part of the expression: they read texts as times, or make a calendar's day of one. */
const DEARER: ReadonlyMap<string, number> = new Map([
  ['timestamp', 40],
  ['duration', 40],
  ['string', 10],
])
const CALENDAR_COST = 12
/** A zone by its name is looked up in tables. */
const ZONE_COST = 800

/** What evaluating it once costs: its parts, macros inside of it once. Those charge for their own turns. */
export function costOf({ exprKind }: Expr): number {
  const all = (parts: readonly (Expr | undefined)[]): number =>
    parts.reduce((sum, part) => sum + (part === undefined ? 0 : costOf(part)), 1)
  switch (exprKind.case) {
    case 'selectExpr':
      return all([exprKind.value.operand])
    case 'callExpr':
      return functionCost(exprKind.value) + all([exprKind.value.target, ...exprKind.value.args])
    case 'listExpr':
      return all(exprKind.value.elements)
    case 'structExpr':
      return all(exprKind.value.entries.map(({ value }) => value))
    case 'comprehensionExpr':
      return all([exprKind.value.accuInit, exprKind.value.iterRange, exprKind.value.result])
    case 'constExpr':
    case 'identExpr':
    case undefined:
      return 1
  }
}

function functionCost({ function: name, args }: Expr_Call): number {
  if (name.startsWith('get')) return args.length > 0 ? ZONE_COST : CALENDAR_COST
  return DEARER.get(name) ?? 0
}
