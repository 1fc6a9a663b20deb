import { appendFileSync, mkdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { JobSpec } from '@parley/protocol'
import type { Service } from '@parley/rpc'
import type { Tester } from '../tester.ts'
import { SelfTests } from './self-test.ts'
import { statusItem } from './status-item.ts'
import { statusService } from './status-service.ts'

export interface LocalStatusOptions {
  /** A job's folder on this machine: `input/job.json`, `input/tests/…`; lines are added to `logs/agent_status.jsonl`. */
  readonly folder: string
  /** May be opened by its first test: whoever only says what it does should not have to wait for compilers. */
  readonly tester: Pick<Tester, 'test'>
  readonly version: string
  readonly now: () => number
  readonly random: (size: number) => Uint8Array
  /** Which attempt the lines are of. */
  readonly attempt?: number
  readonly judgeName?: string
}

/** The folder is not that of a job: the message says what is wrong with it. */
class JobFolderInvalid extends Error {
  readonly code = 'job_folder_invalid'
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'JobFolderInvalid'
  }
}

/** The status service of a folder on disk, without a gateway. */
export interface LocalStatus {
  readonly service: Service
  /** Ends what is being tested. */
  close(): void
}

/** As much chance as keeps two processes of one job apart. */
const OWNER_BYTES = 4

export async function openLocalStatus(options: LocalStatusOptions): Promise<LocalStatus> {
  const { folder, tester, now, version, attempt = 1 } = options
  const spec = await readSpec(folder)
  const logs = join(folder, 'logs')
  mkdirSync(logs, { recursive: true, mode: 0o700 })
  const owner = Buffer.from(options.random(OWNER_BYTES)).toString('hex')
  const closing = new AbortController()
  let lines = 0
  const selfTests = new SelfTests({
    tester,
    spec,
    inputFolder: join(folder, 'input'),
    judgeName: options.judgeName ?? 'local',
    claim: 1,
    attempt,
    signal: closing.signal,
  })
  const service = statusService({
    voice: {
      status: (line) => {
        lines += 1
        const seq = `${owner}-${lines}`
        const item = statusItem(line, { at: now(), jobId: spec.job_id, attempt, seq })
        // One write at the end of the file: lines of two processes never mix.
        appendFileSync(join(logs, 'agent_status.jsonl'), `${JSON.stringify(item)}\n`, { mode: 0o600 })
        return seq
      },
    },
    selfTests,
    spec,
    version,
    now,
  })
  return { service, close: () => closing.abort() }
}

async function readSpec(folder: string): Promise<JobSpec> {
  const path = join(folder, 'input', 'job.json')
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    throw new JobFolderInvalid(`${path} cannot be read`, { cause })
  }
  try {
    return JobSpec.parse(JSON.parse(text))
  } catch (cause) {
    throw new JobFolderInvalid(`${path} is not the job.json of a job`, { cause })
  }
}
