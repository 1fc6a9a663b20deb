import { createHash } from 'node:crypto'
import { ConversationId, type JsonObject, makeId, within } from '@parley/protocol'
import {
  type Conversation,
  ConversationClosed,
  type ConversationListener,
  type ConversationOptions,
  ConversationUnknown,
  type Engine,
  NOTHING_USED,
  Spending,
  type Transcript,
  checkOptions,
} from '@parley/agent'
import { ApprovalDesk } from './call/approval-desk.ts'
import { settleOpenCalls } from './call/run-calls.ts'
import { MiniConversation } from './conversation.ts'
import { ContextSize } from './context-size.ts'
import { type ConversationState, iso } from './conversation-state.ts'
import { openEventSink } from './event-sink.ts'
import { History } from './history.ts'
import { MINI_LIMITS, type MiniOptions } from './mini-options.ts'
import { ToolboxHolder } from './toolbox-holder.ts'
import { ConversationLog } from './transcript/conversation-log.ts'
import { type Standing, foldTranscript } from './transcript/fold-transcript.ts'
import { weigh } from './weigh.ts'

/** The own engine: a loop around a model, with a log that it can go on from. */
export function openMini(mini: MiniOptions): Engine {
  return new Mini(mini)
}

/** How long one that is being opened may take at the end, before it is left to itself. */
const OPENING_MS = 3_000
const LEFT_BEHIND = 'The call was interrupted by a restart: there is no output, and what it did so far may have taken effect.'

class Mini implements Engine {
  readonly name = 'mini'
  readonly #mini: MiniOptions
  readonly #open = new Set<Conversation>()
  /** Conversations that are being opened: they write until they are settled. */
  readonly #opening = new Set<Promise<Conversation>>()
  #isClosed = false

  constructor(mini: MiniOptions) {
    this.#mini = mini
  }

  open(options: ConversationOptions, listener: ConversationListener): Promise<Conversation> {
    return this.#counted(this.#begin(options, listener))
  }

  resume(id: string, options: ConversationOptions, listener: ConversationListener): Promise<Conversation> {
    return this.#counted(this.#goOn(id, options, listener))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await within(Promise.allSettled(this.#opening), OPENING_MS)
    await Promise.all(Array.from(this.#open, (conversation) => conversation.close()))
  }

  async #counted(opening: Promise<Conversation>): Promise<Conversation> {
    this.#opening.add(opening)
    try {
      return await opening
    } finally {
      this.#opening.delete(opening)
    }
  }

  async #begin(options: ConversationOptions, listener: ConversationListener): Promise<Conversation> {
    checkOptions(options)
    const id = makeId(ConversationId, 'cnv', this.#mini.random)
    if (this.#isClosed) throw new ConversationClosed(id)
    const transcript = await this.#mini.transcripts.create(id)
    return this.#start(id, { options, listener, transcript }, (log) => {
      const { model, instructions } = options
      const at = iso(this.#mini.now())
      const instructionsSha256 = sha256(instructions)
      log.add({
        type: 'opened',
        at,
        conversation: id,
        model,
        instructions,
        instructions_sha256: instructionsSha256,
        options: shown(options),
      })
      return NEW_STANDING(model, instructionsSha256)
    })
  }

  async #goOn(id: string, options: ConversationOptions, listener: ConversationListener): Promise<Conversation> {
    checkOptions(options)
    if (this.#isClosed) throw new ConversationClosed(id)
    const transcript = ConversationId.safeParse(id).success ? await this.#mini.transcripts.open(id) : undefined
    if (transcript === undefined) throw new ConversationUnknown(id)
    const standing = await readStanding(id, transcript)
    return this.#start(id, { options, listener, transcript, lastSeq: standing.seq }, (log) => {
      const { model, instructions } = options
      const instructionsSha256 = sha256(instructions)
      log.add({
        type: 'resumed',
        at: iso(this.#mini.now()),
        model,
        instructions: instructionsSha256 === standing.instructionsSha256 ? null : instructions,
        instructions_sha256: instructionsSha256,
        options: shown(options),
      })
      if (model !== standing.model) standing.history.dropReasoning()
      const { history, unsent } = standing
      settleOpenCalls({ history, log }, LEFT_BEHIND, (call) => options.keepsApprovals === true && unsent.has(call))
      return standing
    })
  }

  async #start(
    id: string,
    { options, listener, transcript, lastSeq = 0 }: Start,
    begin: (log: ConversationLog) => Standing,
  ): Promise<Conversation> {
    const log = new ConversationLog(transcript, lastSeq)
    const standing = begin(log)
    try {
      await log.flush()
    } catch (error) {
      await transcript.close()
      throw error
    }
    let { answers } = standing
    const state = this.#state(id, { options, listener, log, standing, nextAnswer: () => (answers += 1) })
    const conversation: MiniConversation = new MiniConversation({
      state,
      toolbox: new ToolboxHolder(standing.toolsSha256),
      turns: standing.turns,
      closed: () => this.#open.delete(conversation),
    })
    this.#open.add(conversation)
    if (this.#isClosed) {
      await conversation.close()
      throw new ConversationClosed(id)
    }
    return conversation
  }

  #state(id: string, { options, listener, log, standing, nextAnswer }: StateParts): ConversationState {
    const mini = this.#mini
    const limits = { ...MINI_LIMITS, ...mini.limits }
    const facts = mini.facts(options.model)
    const emit = openEventSink(listener)
    const context = new ContextSize()
    context.setFixed(weigh(options.instructions))
    const { used, history } = standing
    return {
      id,
      options,
      mini,
      limits,
      facts,
      history,
      log,
      spending: new Spending({ used, budget: options.budget, prices: facts.prices, requestsPerTurn: limits.requestsPerTurn }),
      context,
      desk: new ApprovalDesk({ listener, emit, random: mini.random }),
      emit,
      warn: (message) => {
        log.add({ type: 'warning', message })
        emit({ type: 'warning', message })
      },
      nextAnswer,
    }
  }
}

interface Start {
  readonly options: ConversationOptions
  readonly listener: ConversationListener
  readonly transcript: Transcript
  readonly lastSeq?: number
}

interface StateParts {
  readonly options: ConversationOptions
  readonly listener: ConversationListener
  readonly log: ConversationLog
  readonly standing: Standing
  readonly nextAnswer: () => number
}

const NEW_STANDING = (model: string, instructionsSha256: string): Standing => ({
  history: new History(),
  seq: 0,
  turns: 0,
  answers: 0,
  used: NOTHING_USED,
  model,
  instructionsSha256,
  unsent: new Set(),
  toolsSha256: new Set(),
})

/** A log that holds nothing yet belongs to a conversation that nobody was told of. */
async function readStanding(id: string, transcript: Transcript): Promise<Standing> {
  try {
    const standing = foldTranscript(id, await transcript.read())
    if (standing === undefined) throw new ConversationUnknown(id)
    return standing
  } catch (error) {
    await transcript.close()
    throw error
  }
}

/** Options as the log may hold them: environments, headers, addresses and arguments of mounts can be secrets. */
function shown({
  folder,
  approvals,
  reach,
  network,
  mounts,
  effort,
  outputSchema,
  budget,
  ...more
}: ConversationOptions): JsonObject {
  return {
    folder,
    approvals,
    reach,
    network,
    mounts: mounts.map(({ name, required, server }) => ({ name, required, kind: server.kind })),
    effort: effort ?? null,
    output_schema: outputSchema ?? null,
    budget: budget ?? null,
    keeps_approvals: more.keepsApprovals ?? false,
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
