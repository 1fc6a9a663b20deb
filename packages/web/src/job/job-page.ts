import { type JobListener, type SteadyClient, type Trouble, followJob } from '@parley/client'
import { JobId, type JobState, ToolError, isEnd } from '@parley/protocol'
import { element } from '../element.ts'
import type { ScriptModels } from '../link/script-models.ts'
import { go, jobPath } from '../route.ts'
import { Timeline } from '../timeline/timeline.ts'
import type { View } from '../view.ts'
import { readArtifacts } from './artifacts.ts'
import { CaseTable } from './case-table.ts'
import { codeCard } from './code.ts'
import { JobHeader } from './job-header.ts'
import { noSuchJob } from './no-such-job.ts'
import { nothingHappened } from './nothing-happened.ts'
import { solutionCard } from './solution.ts'
import { TERMINAL_BYTES, Terminal } from './terminal.ts'
import { usageCard } from './usage.ts'

const CLOCK_MS = 1_000

/** Everything about one job, as it happens. `me` is the account that looks. */
export function openJobPage(
  link: SteadyClient,
  models: ScriptModels,
  { id, me }: { readonly id: string; readonly me: string },
): View {
  const known = JobId.safeParse(id)
  if (!known.success) return { root: noSuchJob(id), title: 'No such job', close: () => {} }
  const page = new JobPage(link, models, { id: known.data, me })
  return { root: page.root, title: 'Job', close: () => page.close() }
}

class JobPage {
  readonly root = element('article', { class: 'job' })
  readonly #link: SteadyClient
  readonly #models: ScriptModels
  readonly #header: JobHeader
  readonly #timeline = new Timeline()
  readonly #cases = new CaseTable()
  readonly #terminal = new Terminal()
  /** What is there only at the end. */
  readonly #explanation = element('div', { class: 'place' })
  readonly #code = element('div', { class: 'place' })
  readonly #leave: readonly (() => void)[]
  #state: JobState | undefined
  /** The log itself says that a script was played, also when the channel is long gone. */
  #saysScript = false
  #isLoaded = false
  /** Why it was with no judge when it was last told; the state of a job that is over does not say so any more. */
  #waited: string | undefined

  constructor(link: SteadyClient, models: ScriptModels, { id, me }: { readonly id: JobId; readonly me: string }) {
    this.#link = link
    this.#models = models
    this.#header = new JobHeader(me, {
      cancel: async () => void (await link.onceNow('job.cancel', { job_id: id })),
      retry: async () => go(jobPath((await link.onceNow('job.retry', { job_id: id })).job_id)),
    })
    const side = element('div', { class: 'side' }, this.#cases.root, this.#explanation)
    const back = element('p', { class: 'back' }, element('a', { href: '/' }, '← All jobs'))
    this.root.append(back, this.#header.root, element('div', { class: 'columns' }, this.#timeline.root, side))
    this.root.append(this.#code, this.#terminal.root)
    const clock = setInterval(() => this.#tick(), CLOCK_MS)
    this.#leave = [() => clearInterval(clock), this.#follow(id), models.onChange(() => this.#showHeader())]
  }

  close(): void {
    for (const leave of this.#leave) leave()
    this.#timeline.close()
    this.#terminal.close()
  }

  #follow(id: JobId): () => void {
    const listener: JobListener = {
      state: (state) => this.#showState(state),
      status: (item) => {
        if (item.meta['phase'] === 'prepared' && item.meta['script'] === true && !this.#saysScript) {
          this.#saysScript = true
          this.#showHeader()
        }
        this.#timeline.push(item)
      },
      caseDone: (item, begins) => this.#cases.push(item, begins),
      terminal: (bytes) => this.#terminal.push(bytes),
      terminalFrom: (offset) => this.#terminal.from(offset),
      restarted: () => {
        for (const part of [this.#timeline, this.#cases, this.#terminal]) part.clear()
      },
      trouble: (what) => this.#header.trouble(troubleWords(what)),
    }
    const following = followJob(this.#link, id, listener, { until: 'closed', terminalBytes: TERMINAL_BYTES })
    following.ended.catch((error: unknown) => {
      if (error instanceof ToolError && error.code === 'not_found') this.root.replaceChildren(noSuchJob(id))
    })
    return () => following.close()
  }

  #showState(state: JobState): void {
    this.#state = state
    this.#showHeader()
    this.#cases.show(state)
    document.title = `${state.title === '' ? 'Job' : state.title} · Parley`
    if (state.waiting !== null) this.#waited = state.waiting.message
    if (!isEnd(state.status)) return
    this.#timeline.empty(nothingHappened(state, this.#waited))
    this.#terminal.end()
    if (!this.#isLoaded) void this.#load(state)
  }

  get #isScript(): boolean {
    return this.#saysScript || this.#models.has(this.#state?.model ?? null, this.#state?.upstream_channel)
  }

  #showHeader(): void {
    if (this.#state !== undefined) this.#header.show(this.#state, this.#isScript)
  }

  #tick(): void {
    if (this.#state !== undefined && !isEnd(this.#state.status)) this.#header.tick()
  }

  /** Once, at the end. When it fails because the connection did, the state comes again with the next one. */
  async #load(state: JobState): Promise<void> {
    this.#isLoaded = true
    try {
      const { codeName, code, solution, usage } = await readArtifacts(this.#link, state)
      if (code !== undefined) this.#code.replaceChildren(codeCard(codeName, code, solution?.seed_code_full_diff ?? ''))
      this.#explanation.replaceChildren(
        ...(solution === undefined ? [] : [solutionCard(solution)]),
        ...(usage === undefined ? [] : [usageCard(usage, this.#isScript)]),
      )
    } catch {
      this.#isLoaded = false
    }
  }
}

function troubleWords(what: Trouble): string {
  if (what.kind === 'none') return ''
  return what.kind === 'refused' ? what.message : 'The connection is lost. The job is shown as soon as it is back.'
}
