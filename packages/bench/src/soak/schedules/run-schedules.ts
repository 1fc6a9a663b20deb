import { Tally } from '../../soak.ts'
import { type ScheduleOptions, openHouse, runSchedule } from './run-schedule.ts'

export interface ManyOptions extends ScheduleOptions {
  readonly firstSeed: number
  readonly schedules: number
  /** Called now and then with how far it is, and with the steps of the first that does not hold. */
  readonly log: (line: string) => void
  /** Ends with the first that does not hold. */
  readonly stopsEarly?: boolean
}

const TOLD_EACH = 5_000

/** One schedule for each seed, from the first on. What does not hold is told with what replays it. */
export async function runSchedules(options: ManyOptions): Promise<Tally> {
  const { firstSeed, schedules, log, stopsEarly = false } = options
  const tally = new Tally()
  let house = await openHouse()
  let isTraced = false
  for (let index = 0; index < schedules; index += 1) {
    const seed = firstSeed + index
    const { problems, trace, steps, counts } = await runSchedule(house, seed, options)
    tally.count('schedules')
    tally.count('steps', steps)
    for (const [name, count] of counts) tally.count(name, count)
    if ((index + 1) % TOLD_EACH === 0) log(`${index + 1} of ${schedules} schedules`)
    if (problems.length > 0 || schedules === 1) {
      if (!isTraced) for (const line of trace) log(line)
      isTraced = true
    }
    if (problems.length === 0) continue
    tally.problem(`seed ${seed}: ${problems.join('; ')}\n    npm run soak schedules -- --seed ${seed} --schedules 1`)
    if (stopsEarly) break
    // Nobody knows what the one that went wrong left behind.
    await house.db.close()
    house = await openHouse()
  }
  await house.db.close()
  return tally
}
