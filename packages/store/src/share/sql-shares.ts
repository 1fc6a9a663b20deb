import { JOB_LIMITS, type UserId } from '@parley/protocol'
import type { Database } from '@parley/database'
import { checkInteger } from '../limits.ts'
import type { Shares } from './share.ts'
import { boundsOf, checkBytes, checkJobCount, jobCounts, usedBytes } from './steps.ts'

/** Shares are summed over the rows themselves, because a counter kept beside them could come to differ from them. */
export class SqlShares implements Shares {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  async of(ownerId: UserId | null): ReturnType<Shares['of']> {
    const bounds = await boundsOf(this.#db, ownerId)
    const { jobs, unfinished } = await jobCounts(this.#db, ownerId)
    return {
      bytes: { used: await usedBytes(this.#db, ownerId), limit: bounds.bytes },
      jobs: { used: jobs, limit: bounds.jobs },
      unfinished: { used: unfinished, limit: JOB_LIMITS.unfinishedJobs },
    }
  }

  async check(ownerId: UserId | null, { bytes = 0, jobs = 0 }: Parameters<Shares['check']>[1]): Promise<void> {
    checkInteger('bytes', bytes, 0)
    checkInteger('jobs', jobs, 0)
    const bounds = await boundsOf(this.#db, ownerId)
    if (jobs > 0) await checkJobCount(this.#db, ownerId, bounds, jobs)
    await checkBytes(this.#db, ownerId, bounds, bytes)
  }
}
