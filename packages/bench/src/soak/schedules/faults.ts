import type { SeededRandom } from '../random.ts'

/** What goes wrong for one of those who take part. */
export type Fault =
  | 'kill gateway'
  | 'stop gateway'
  | 'kill host'
  | 'stop host'
  | 'cut host'
  | 'cut client'
  | 'cancel'
  | 'change policy'
  | 'take allowance'
/** What kills and cuts comes more often than the rest. */
const FAULTS: readonly Fault[] = [
  'kill gateway',
  'kill gateway',
  'stop gateway',
  'kill host',
  'kill host',
  'stop host',
  'cut host',
  'cut host',
  'cut client',
  'cancel',
  'change policy',
  'take allowance',
]
const FAULTS_MAX = 5
const AMONG_STEPS = 150

export const pickFault = (random: SeededRandom): Fault => random.pick(FAULTS)

/** What is to go wrong before which step. */
export const planFaults = (random: SeededRandom): readonly { readonly at: number; readonly fault: Fault }[] =>
  Array.from({ length: random.between(0, FAULTS_MAX) }, () => ({ at: random.between(0, AMONG_STEPS), fault: pickFault(random) }))
