import {
  type AgentStatusItem,
  type CaseItem,
  type JobId,
  type JobOffsets,
  type JobState,
  type JsonObject,
  NOTIFICATIONS,
  ToolError,
} from '@parley/protocol'
import type { Client } from '@parley/rpc/browser'
import type { GatewayLink, LinkListener } from '../link/gateway-link.ts'
import { bytesOf } from './base64.ts'

/** What is heard of a job, each thing once and in order, also over a lost connection. */
export interface JobListener {
  state(state: JobState): void
  status(item: AgentStatusItem): void
  caseDone(item: CaseItem): void
  /** Bytes of the terminal; a character may be split between two calls. */
  terminal(bytes: Uint8Array): void
  /** What the terminal said before this byte is left out. */
  terminalFrom(offset: number): void
  /** There is no such job, or it is somebody else's. */
  missing(): void
  /** The logs are others than before: everything is told again from the beginning. */
  restarted(): void
  /** Something stands in the way; empty: no longer. */
  trouble(message: string): void
}

/** The most of a terminal that is shown, and therefore asked for. */
export const TERMINAL_BYTES = 1024 * 1024
/** A gateway that refuses for the moment is asked again after this. */
const AGAIN_MS = 2_000
const STREAMS = ['state', 'agent_status', 'terminal', 'cases'] as const

/** Follows a job from its beginning. The answer ends it. */
export function followJob(link: GatewayLink, jobId: JobId, listener: JobListener): () => void {
  const feed = new JobFeed(jobId, listener)
  const unfollow = link.follow(feed)
  return () => {
    unfollow()
    feed.close()
  }
}

class JobFeed implements LinkListener {
  readonly #jobId: JobId
  readonly #listener: JobListener
  #client: Client | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  /** The byte after the last thing that was told, for each log. */
  #heard: JobOffsets | undefined
  #isClosed = false

  constructor(jobId: JobId, listener: JobListener) {
    this.#jobId = jobId
    this.#listener = listener
  }

  opened(client: Client): void {
    this.#client = client
    void this.#subscribe(client)
  }

  lost(): void {
    // What was heard is still true; without anything the page would be empty and say nothing.
    if (this.#heard === undefined) this.#listener.trouble('The connection is lost. The job is shown as soon as it is back.')
  }

  notified(method: string, params: JsonObject): void {
    if (params['job_id'] !== this.#jobId || this.#isClosed) return
    switch (method) {
      case 'job_state': {
        const told = NOTIFICATIONS.job_state.params.safeParse(params)
        if (told.success) this.#listener.state(told.data.state)
        return
      }
      case 'agent_status': {
        const told = NOTIFICATIONS.agent_status.params.safeParse(params)
        if (told.success && this.#isNew('agent_status', told.data.offset)) this.#listener.status(told.data.item)
        return
      }
      case 'case_result': {
        const told = NOTIFICATIONS.case_result.params.safeParse(params)
        if (told.success && this.#isNew('cases', told.data.offset)) this.#listener.caseDone(told.data.item)
        return
      }
      case 'terminal': {
        const told = NOTIFICATIONS.terminal.params.safeParse(params)
        if (told.success && this.#isNew('terminal', told.data.offset)) this.#listener.terminal(bytesOf(told.data.chunk_b64))
      }
    }
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    const client = this.#client
    // The connection stays for the next view, which wants nothing of this job.
    if (client?.isClosed === false) client.callTool('job.unsubscribe', { job_id: this.#jobId }).catch(() => {})
  }

  #isNew(log: keyof JobOffsets, offset: number): boolean {
    if (this.#heard === undefined || offset <= this.#heard[log]) return false
    this.#heard = { ...this.#heard, [log]: offset }
    return true
  }

  async #subscribe(client: Client): Promise<void> {
    try {
      this.#heard ??= await this.#beginning(client)
      if (this.#isClosed) return
      await client.callTool('job.subscribe', {
        job_id: this.#jobId,
        streams: [...STREAMS],
        agent_status_offset: this.#heard.agent_status,
        terminal_offset: this.#heard.terminal,
        cases_offset: this.#heard.cases,
      })
      this.#listener.trouble('')
    } catch (error) {
      // With the connection gone, the next one asks again.
      if (!this.#isClosed && !client.isClosed) this.#refused(client, error)
    }
  }

  /** Of a long terminal only the end is wanted. */
  async #beginning(client: Client): Promise<JobOffsets> {
    const { ends } = await client.callTool('job.read_log', { job_id: this.#jobId, stream: 'terminal', max_bytes: 1 })
    const terminal = Math.max(0, ends.terminal - TERMINAL_BYTES)
    this.#listener.terminalFrom(terminal)
    return { terminal, agent_status: 0, cases: 0 }
  }

  #refused(client: Client, error: unknown): void {
    if (error instanceof ToolError && error.code === 'not_found') {
      this.#listener.missing()
      return
    }
    if (error instanceof ToolError && error.field?.endsWith('_offset') === true) {
      this.#heard = undefined
      this.#listener.restarted()
    } else {
      this.#listener.trouble(error instanceof Error ? error.message : String(error))
    }
    this.#timer = setTimeout(() => {
      if (!client.isClosed) void this.#subscribe(client)
    }, AGAIN_MS)
  }
}
