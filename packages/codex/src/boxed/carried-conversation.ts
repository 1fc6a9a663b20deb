import type {
  Conversation,
  ConversationListener,
  EngineEvent,
  Transcript,
  TranscriptEntry,
  Transcripts,
  Turn,
  TurnInput,
} from '@parley/agent'
import { messageOf } from '@parley/protocol/wire'
import { type RolloutPiece, readRolloutLines, writeRolloutLines } from './rollout-lines.ts'

/** One line of Codex's own log of a conversation. */
const ROLLOUT = 'rollout'
/** Some of it is not there: nobody can go on from here. */
const LOST = 'rollout_lost'

/** Carries Codex's log of a conversation to where another judge finds it, turn by turn. */
export class RolloutCarrier {
  readonly #home: string
  readonly #id: string
  readonly #transcript: Transcript
  #nextByte: number
  #isLost = false
  /** What is being carried: it keeps its order, and the end waits for it. */
  #carrying: Promise<unknown> = Promise.resolve()

  private constructor(home: string, id: string, transcript: Transcript, nextByte: number) {
    this.#home = home
    this.#id = id
    this.#transcript = transcript
    this.#nextByte = nextByte
  }

  /** For a conversation that begins. */
  static async create(home: string, id: string, transcripts: Transcripts): Promise<RolloutCarrier> {
    return new RolloutCarrier(home, id, await transcripts.create(id), 0)
  }

  /** For one that goes on; `undefined` where it is not known, or only in part. In a new home its log is put back. */
  static async restore(
    home: { readonly folder: string; readonly isNew: boolean },
    id: string,
    transcripts: Transcripts,
  ): Promise<RolloutCarrier | undefined> {
    const transcript = await transcripts.open(id)
    const entries = (await transcript?.read()) ?? []
    const kept = keptRollout(entries)
    if (transcript === undefined || kept === undefined) return undefined
    if (home.isNew && !writeRolloutLines(home.folder, kept.name, kept.lines)) return undefined
    const there = readRolloutLines(home.folder, id, 0)
    // What is in the home is what Codex goes on with; it begins with all that was carried.
    if (there === undefined || there.lines.length < kept.lines.length) return undefined
    const carried = there.lines.slice(0, kept.lines.length).reduce((bytes, line) => bytes + Buffer.byteLength(line) + 1, 0)
    return new RolloutCarrier(home.folder, id, transcript, carried)
  }

  /** What was said, what Codex wrote about it since, and how it ended: together, so that nobody finds a question without its log. */
  carry(before: readonly TranscriptEntry[], after: readonly TranscriptEntry[]): Promise<void> {
    const carried = this.#carrying.then(() => this.#carry(before, after))
    this.#carrying = carried.catch(() => undefined)
    return carried
  }

  async #carry(before: readonly TranscriptEntry[], after: readonly TranscriptEntry[]): Promise<void> {
    const piece = this.#isLost ? undefined : readRolloutLines(this.#home, this.#id, this.#nextByte)
    // Codex begins the file when it likes. One that was there and cannot be read on is not the one that was there.
    const isLost = piece === undefined && this.#nextByte > 0 && !this.#isLost
    this.#isLost ||= isLost
    this.#nextByte = piece?.nextByte ?? this.#nextByte
    const lines = piece === undefined ? (isLost ? [{ type: LOST }] : []) : linesOf(piece)
    if (before.length + lines.length + after.length > 0) await this.#transcript.append([...before, ...lines, ...after])
  }

  /** What Codex wrote after its last turn. */
  finish(): Promise<void> {
    return this.carry([], [])
  }
}

const linesOf = ({ name, lines }: RolloutPiece): TranscriptEntry[] => lines.map((line) => ({ type: ROLLOUT, name, line }))

function keptRollout(
  entries: readonly TranscriptEntry[],
): { readonly name: string; readonly lines: readonly string[] } | undefined {
  if (entries.some(({ type }) => type === LOST)) return undefined
  const kept = entries.filter(({ type }) => type === ROLLOUT)
  const name = kept[0]?.['name']
  const lines = kept.flatMap(({ line }) => (typeof line === 'string' ? [line] : []))
  return typeof name === 'string' && lines.length > 0 ? { name, lines } : undefined
}

/** After these something was done that is not to be done again. */
const DONE: ReadonlySet<EngineEvent['type']> = new Set(['tool_end', 'command_end', 'patch_end', 'usage'])

/** Hears what happens in a conversation, and tells when something was done in it. */
export class CarryingListener implements ConversationListener {
  readonly #listener: ConversationListener
  /** Called for each thing that was done in the turn under way. */
  done: () => void = () => undefined

  constructor(listener: ConversationListener) {
    this.#listener = listener
  }

  event(event: EngineEvent): void {
    this.#listener.event(event)
    if (DONE.has(event.type)) this.done()
  }

  approve(...asked: Parameters<ConversationListener['approve']>): ReturnType<ConversationListener['approve']> {
    return this.#listener.approve(...asked)
  }
}

export interface CarriedParts {
  readonly carrier: RolloutCarrier
  readonly listener: CarryingListener
  readonly warn: (message: string) => void
}

/** A conversation whose turns are carried as they are taken, and to their end before they count as ended. */
export function carriedConversation(conversation: Conversation, { carrier, listener, warn }: CarriedParts): Conversation {
  const submit = (input: TurnInput): Turn => {
    const parts = input.input.map((part) => ({ ...part }))
    const heard = input.heard === undefined ? {} : { heard: { ...input.heard } }
    const said: TranscriptEntry[] = [{ type: 'input', input: parts, ...heard }]
    // Whether that could be kept shows at the end.
    listener.done = () => void carrier.carry(said.splice(0), []).catch(() => undefined)
    const turn = conversation.submit(input)
    const ended = turn.ended.then(async (end) => {
      listener.done = () => undefined
      try {
        await carrier.carry(said.splice(0), [{ type: 'turn_ended', end: { ...end } }])
      } catch (error) {
        warn(`what was said is not kept for another judge: ${messageOf(error)}`)
      }
      return end
    })
    return { id: turn.id, ended }
  }
  return {
    id: conversation.id,
    model: conversation.model,
    submit,
    steer: (input) => conversation.steer(input),
    interrupt: () => conversation.interrupt(),
    close: () => conversation.close(),
  }
}
