/** What is known of a value before it is there. `dyn` is anything: what arguments hold is seen when they come. */
export type StaticType = 'dyn' | 'bool' | 'int' | 'double' | 'string' | 'null' | 'list' | 'map' | 'timestamp' | 'duration'

/** What goes in, the receiver of a method first, and what comes out. */
export interface Signature {
  readonly takes: readonly StaticType[]
  readonly gives: StaticType
}

const same = (...types: readonly StaticType[]): readonly Signature[] =>
  types.map((type) => ({ takes: [type, type], gives: type }))
const compared = (): readonly Signature[] => [
  ...(['bool', 'int', 'double', 'string', 'timestamp', 'duration'] as const).map((type) => ({
    takes: [type, type],
    gives: 'bool' as const,
  })),
  { takes: ['int', 'double'], gives: 'bool' },
  { takes: ['double', 'int'], gives: 'bool' },
]
const from = (gives: StaticType, ...takes: readonly StaticType[]): readonly Signature[] =>
  takes.map((type) => ({ takes: [type], gives }))

/** The functions and operators of CEL that there are here, and no other: an allow-list. */
export const FUNCTIONS: ReadonlyMap<string, readonly Signature[]> = new Map<string, readonly Signature[]>([
  ['!_', from('bool', 'bool')],
  ['-_', [...from('int', 'int'), ...from('double', 'double')]],
  ['@not_strictly_false', from('bool', 'bool')],
  ['_<_', compared()],
  ['_<=_', compared()],
  ['_>_', compared()],
  ['_>=_', compared()],
  [
    '_+_',
    [
      ...same('int', 'double', 'string', 'list', 'duration'),
      { takes: ['timestamp', 'duration'], gives: 'timestamp' },
      { takes: ['duration', 'timestamp'], gives: 'timestamp' },
    ],
  ],
  [
    '_-_',
    [
      ...same('int', 'double', 'duration'),
      { takes: ['timestamp', 'timestamp'], gives: 'duration' },
      { takes: ['timestamp', 'duration'], gives: 'timestamp' },
    ],
  ],
  ['_*_', same('int', 'double')],
  ['_/_', same('int', 'double')],
  ['_%_', same('int')],
  [
    '_[_]',
    [
      { takes: ['list', 'int'], gives: 'dyn' },
      { takes: ['map', 'string'], gives: 'dyn' },
      { takes: ['map', 'int'], gives: 'dyn' },
      { takes: ['map', 'bool'], gives: 'dyn' },
    ],
  ],
  [
    '@in',
    [
      { takes: ['dyn', 'list'], gives: 'bool' },
      { takes: ['dyn', 'map'], gives: 'bool' },
    ],
  ],
  ['dyn', from('dyn', 'dyn')],
  ['size', from('int', 'string', 'list', 'map')],
  ['bool', from('bool', 'bool', 'string')],
  ['int', from('int', 'int', 'double', 'string')],
  ['double', from('double', 'double', 'int', 'string')],
  ['string', from('string', 'string', 'bool', 'int', 'double')],
  ['timestamp', from('timestamp', 'string')],
  ['duration', from('duration', 'string')],
])

const inText = { takes: ['string', 'string'], gives: 'bool' } as const
const ofTime: readonly Signature[] = [
  { takes: ['timestamp'], gives: 'int' },
  { takes: ['timestamp', 'string'], gives: 'int' },
]
const ofTimeOrDuration: readonly Signature[] = [...ofTime, { takes: ['duration'], gives: 'int' }]

export const METHODS: ReadonlyMap<string, readonly Signature[]> = new Map<string, readonly Signature[]>([
  ['contains', [inText]],
  ['startsWith', [inText]],
  ['endsWith', [inText]],
  ['matches', [inText]],
  ['size', from('int', 'string', 'list', 'map')],
  ['getFullYear', ofTime],
  ['getMonth', ofTime],
  ['getDate', ofTime],
  ['getDayOfMonth', ofTime],
  ['getDayOfWeek', ofTime],
  ['getDayOfYear', ofTime],
  ['getHours', ofTimeOrDuration],
  ['getMinutes', ofTimeOrDuration],
  ['getSeconds', ofTimeOrDuration],
])

/** What a condition sees of a call. */
export const VARIABLES = {
  args: 'dyn',
  agent: 'map',
  caller: 'map',
  kind: 'string',
  mount: 'string',
  name: 'string',
  annotations: 'map',
  counts: 'map',
  now: 'timestamp',
} as const satisfies Readonly<Record<string, StaticType>>
export type VariableName = keyof typeof VARIABLES

export const isVariable = (name: string): name is VariableName => Object.hasOwn(VARIABLES, name)

/** The members of those that are ours: another name is a mistake. */
export const KNOWN_FIELDS: Readonly<Record<string, Readonly<Record<string, StaticType>>>> = {
  agent: { id: 'string', name: 'string', owner: 'string' },
  caller: { role: 'string', name: 'string' },
  counts: { turn: 'int', hour: 'int', day: 'int' },
}

export const mayBe = (type: StaticType, wanted: StaticType): boolean => type === wanted || type === 'dyn' || wanted === 'dyn'
