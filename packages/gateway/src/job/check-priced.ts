import { ToolError } from '@parley/protocol'
import type { JobRecord } from '@parley/store'
import { jobBounds, payable, unpricedWords } from '@parley/models'
import type { JobWorld } from './job-world.ts'

/** Refuses the start of a job whose first call of its model would be refused: money is bounded, and the model has no price. */
export async function checkPriced(
  { quotas, directory }: Pick<JobWorld, 'quotas' | 'directory'>,
  job: Pick<JobRecord, 'id' | 'ownerId' | 'spec'>,
): Promise<void> {
  const { model, upstream_channel: channel, budget } = job.spec
  if (model === null) return
  const limits = await quotas.limitsFor({ ownerId: job.ownerId, bounds: jobBounds(budget) })
  if ((limits.owner?.microusd ?? null) === null && budget.microusd === null) return
  const reachable = await directory.resolve(model, channel)
  const words = unpricedWords(payable(limits, reachable), reachable)
  if (words !== undefined)
    throw new ToolError('quota_exceeded', words, { field: 'model', hint: 'models.list says which models have a price' })
}
