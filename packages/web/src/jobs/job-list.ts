import type { SteadyClient } from '@parley/client'
import { type JobListItem, messageOf } from '@parley/protocol'
import type { Client } from '@parley/rpc/browser'
import type { SignedInUser } from '../api.ts'
import { element } from '../element.ts'
import type { ScriptModels } from '../link/script-models.ts'
import type { View } from '../view.ts'
import { JobRow } from './job-row.ts'

const PAGE_ROWS = 50
/** Older jobs than these are reached by their address; a list of more is read by nobody. */
const ROWS_MAX = 500
/** A burst of changes is read once. */
const REREAD_MS = 250
const CLOCK_MS = 20_000
const HEADS = ['Status', 'Title', 'Model', 'Owner', 'Language', 'Passed', 'Created']

/** What was read last, for whoever comes back to the list: it is shown until it is read anew. */
export interface KeptJobs {
  last?: { readonly items: readonly JobListItem[]; readonly cursor: string | null }
}

/** Your jobs, newest first, as they are now; to an admin those of everybody, with their owners. */
export function openJobList(link: SteadyClient, models: ScriptModels, account: SignedInUser, kept: KeptJobs): View {
  const list = new JobList(models, account, kept)
  const unfollow = link.follow({ connected: (client) => void list.connected(client), lost: () => list.lost() })
  const leave = [unfollow, models.onChange(() => list.show())]
  const clock = setInterval(() => list.tick(), CLOCK_MS)
  return {
    root: list.root,
    title: 'Jobs',
    close: () => {
      clearInterval(clock)
      list.close()
      for (const each of leave) each()
    },
  }
}

class JobList {
  readonly root: HTMLElement
  readonly #models: ScriptModels
  readonly #account: SignedInUser
  readonly #kept: KeptJobs
  readonly #mine = element('input', { type: 'checkbox', click: () => this.#showMine() })
  readonly #title: HTMLElement
  readonly #rows = new Map<string, JobRow>()
  readonly #body = element('tbody', {})
  readonly #table: HTMLTableElement
  readonly #note = element('p', { class: 'quiet', role: 'status' }, 'Reading your jobs…')
  readonly #more: HTMLButtonElement
  #items: readonly JobListItem[] = []
  #cursor: string | null = null
  #wanted = PAGE_ROWS
  #client: Client | undefined
  #unsubscribe: (() => Promise<void>) | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #hasRead = false
  #isReading = false
  #isStale = false
  #isClosed = false

  constructor(models: ScriptModels, account: SignedInUser, kept: KeptJobs) {
    this.#models = models
    this.#account = account
    this.#kept = kept
    this.#title = element('h2', { id: 'jobs-title' }, account.admin ? 'All jobs' : 'Your jobs')
    this.#more = element('button', { type: 'button', class: 'plain', click: () => this.#showMore() }, 'Show more')
    this.#more.hidden = true
    const heads = account.admin ? HEADS : HEADS.filter((name) => name !== 'Owner')
    const head = element('tr', {}, ...heads.map((name) => element('th', { scope: 'col' }, name)))
    this.#table = element('table', { class: 'jobs' }, element('thead', {}, head), this.#body)
    this.#table.hidden = true
    this.root = element(
      'section',
      { class: 'card', 'aria-labelledby': 'jobs-title' },
      element('div', { class: 'heading' }, this.#title, ...this.#choice()),
      this.#note,
      element('div', { class: 'scroll' }, this.#table),
      this.#more,
    )
    if (kept.last !== undefined) this.#take(kept.last)
  }

  async connected(client: Client): Promise<void> {
    this.#client = client
    this.#soon(0)
    // When it is refused the list is still right, only not by itself.
    const unsubscribe = await client.subscribe('resource://jobs/list', () => this.#soon(REREAD_MS)).catch(() => undefined)
    if (this.#isClosed) await unsubscribe?.()
    else this.#unsubscribe = unsubscribe
  }

  /** What was read stays; what was not comes with the next connection. */
  lost(): void {
    this.#client = undefined
    this.#say(this.#hasRead ? LOST_SINCE : LOST_BEFORE)
  }

  show(): void {
    const here = new Set<string>(this.#items.map(({ job_id }) => job_id))
    for (const [id, row] of this.#rows) {
      if (here.has(id)) continue
      row.root.remove()
      this.#rows.delete(id)
    }
    // Rows that are where they belong are not touched: moving one would take the focus from it.
    let at = this.#body.firstElementChild
    for (const item of this.#items) {
      const row = this.#rows.get(item.job_id) ?? new JobRow(item.job_id, { hasOwner: this.#account.admin })
      this.#rows.set(item.job_id, row)
      row.show(item, this.#models.has(item.model))
      if (row.root === at) at = at.nextElementSibling
      else this.#body.insertBefore(row.root, at)
    }
    this.#table.hidden = this.#items.length === 0
    this.#more.hidden = this.#cursor === null || this.#items.length >= ROWS_MAX
  }

  tick(): void {
    for (const row of this.#rows.values()) row.tick(Date.now())
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    void this.#unsubscribe?.()
  }

  /** Whose jobs are shown is an admin's to choose; everybody else has their own alone. */
  #choice(): readonly HTMLElement[] {
    return this.#account.admin && this.#account.id !== null ? [element('label', { class: 'quiet' }, this.#mine, 'Only mine')] : []
  }

  #showMine(): void {
    this.#title.textContent = this.#mine.checked ? 'Your jobs' : 'All jobs'
    this.#wanted = PAGE_ROWS
    this.#soon(0)
  }

  #showMore(): void {
    this.#wanted = Math.min(ROWS_MAX, this.#wanted + PAGE_ROWS)
    this.#soon(0)
  }

  #soon(ms: number): void {
    if (this.#isClosed) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      void this.#read()
    }, ms)
  }

  #take(read: NonNullable<KeptJobs['last']>): void {
    this.#hasRead = true
    this.#items = read.items
    this.#cursor = read.cursor
    this.#say(noteFor(read.items.length, read.cursor))
    this.show()
  }

  #say(note: string): void {
    this.#note.textContent = note
    this.#note.hidden = note === ''
  }

  async #read(): Promise<void> {
    this.#isStale = this.#isReading
    const client = this.#client
    if (this.#isReading || client === undefined) return
    this.#isReading = true
    const isMine = this.#mine.checked
    try {
      const read = await readPages(client, this.#wanted, isMine ? this.#account.id : null)
      if (!isMine) this.#kept.last = read
      this.#take(read)
    } catch (error) {
      // With the connection gone, that is what is said.
      if (!client.isClosed) this.#say(`The jobs could not be read: ${messageOf(error)}`)
    } finally {
      this.#isReading = false
      if (this.#isStale) this.#soon(0)
    }
  }
}

const LOST_BEFORE = 'The connection is lost. The jobs are shown as soon as it is back.'
const LOST_SINCE = 'The connection is lost. This is how the jobs were; it goes on as soon as it is back.'
const NO_JOBS = 'No jobs yet. Hand one in with `parley job submit`, or with job.create over MCP.'

function noteFor(count: number, cursor: string | null): string {
  if (count === 0) return NO_JOBS
  return count >= ROWS_MAX && cursor !== null ? `The newest ${count}; older ones are reached by their address.` : ''
}

async function readPages(
  client: Client,
  wanted: number,
  owner: string | null,
): Promise<{ readonly items: readonly JobListItem[]; readonly cursor: string | null }> {
  const items: JobListItem[] = []
  let cursor: string | null = null
  do {
    const from: { cursor?: string } = cursor === null ? {} : { cursor }
    const whose = owner === null ? {} : { owner_user_id: owner }
    const page = await client.callTool('job.list', { ...from, ...whose, limit: PAGE_ROWS })
    items.push(...page.items)
    cursor = page.next_cursor
  } while (cursor !== null && items.length < wanted)
  return { items, cursor }
}
