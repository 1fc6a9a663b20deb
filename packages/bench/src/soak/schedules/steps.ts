import type { SeededRandom } from '../random.ts'

/** Whoever takes steps: a gateway, a host, a client. One that is dead takes none any more, a stopped one none before a time. */
export interface Actor {
  readonly name: string
  isDead: boolean
  stoppedUntil: number
}

interface Ready {
  readonly actor: Actor
  readonly label: string
  /** Steps of one lane keep their order: what is said on one connection arrives as it was said. */
  readonly lane: string | undefined
  readonly take: () => void
}

interface Timer {
  readonly at: number
  readonly actor: Actor
  readonly label: string
  readonly act: () => void
  /** It would come again and again while nothing happens, such as the renewal of a lease. */
  readonly isIdle: () => boolean
}

/** So often time goes on although somebody could take a step: that step is late then. */
const LATE_PART = 0.06
/** A step is late by this much at most at once: what is silent for longer has lost its connection. */
const LATE_MS = 25_000
const TRACED_MAX = 4_000

/** What everybody could do next, and a clock that stands still unless this says that it goes on. One step at a time, chosen by a seed. */
export class Steps {
  now: number
  readonly trace: string[] = []
  readonly #random: SeededRandom
  #ready: Ready[] = []
  #timers: Timer[] = []

  constructor(random: SeededRandom, now: number) {
    this.#random = random
    this.now = now
  }

  /** Settles when it is this step's turn; never, when whose step it is is dead by then. */
  turn(actor: Actor, label: string, lane?: string): Promise<void> {
    return new Promise((resolve) => this.push(actor, label, resolve, lane))
  }

  push(actor: Actor, label: string, take: () => void, lane?: string): void {
    if (!actor.isDead) this.#ready.push({ actor, label, lane, take })
  }

  after(actor: Actor, ms: number, label: string, act: () => void, isIdle = (): boolean => false): () => void {
    const timer = { at: this.now + Math.max(0, Math.ceil(ms)), actor, label, act, isIdle }
    if (!actor.isDead) this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer)
    }
  }

  note(text: string): void {
    if (this.trace.length < TRACED_MAX) this.trace.push(`${String(this.now).padStart(9)}  ${text}`)
  }

  /** When something is due that does not merely keep things as they are; `undefined`: never. */
  nextDue(): number | undefined {
    const due = this.#alive().filter(({ isIdle }) => !isIdle())
    return due.length === 0 ? undefined : Math.min(...due.map(dueAt))
  }

  get isQuiet(): boolean {
    return this.#heads().length === 0
  }

  /** Takes one step, or lets time go on to the next that is due. False when there is neither. */
  take(): boolean {
    const heads = this.#heads()
    const isLate = this.#random.next() < LATE_PART
    if (heads.length === 0 || isLate) {
      const timer = this.#firstTimer()
      if (timer !== undefined && (heads.length === 0 || dueAt(timer) <= this.now + LATE_MS)) return this.#fire(timer)
      if (heads.length === 0) return false
    }
    const step = this.#random.pick(heads)
    this.#ready = this.#ready.filter((each) => each !== step)
    this.note(step.label)
    step.take()
    return true
  }

  /** Nothing happens for a while. What only keeps things as they are is put off until after it. */
  leap(to: number): void {
    this.#timers = this.#alive().map((timer) => (timer.at < to && timer.isIdle() ? { ...timer, at: to } : timer))
    this.now = to
    this.note('(nothing happens)')
  }

  #fire(timer: Timer): boolean {
    this.#timers = this.#timers.filter((each) => each !== timer)
    this.now = Math.max(this.now, dueAt(timer))
    this.note(timer.label)
    timer.act()
    return true
  }

  #alive(): Timer[] {
    return this.#timers.filter(({ actor }) => !actor.isDead)
  }

  #firstTimer(): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers)
      if (!timer.actor.isDead && (first === undefined || dueAt(timer) < dueAt(first))) first = timer
    return first
  }

  #heads(): readonly Ready[] {
    const lanes = new Set<string>()
    this.#ready = this.#ready.filter(({ actor }) => !actor.isDead)
    return this.#ready.filter(({ actor, lane }) => {
      if (actor.stoppedUntil > this.now || (lane !== undefined && lanes.has(lane))) return false
      if (lane !== undefined) lanes.add(lane)
      return true
    })
  }
}

const dueAt = ({ at, actor }: Timer): number => Math.max(at, actor.stoppedUntil)

/** What follows by itself has happened: nothing of ours waits longer than for one turn of the event loop. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setImmediate(resolve))
}
