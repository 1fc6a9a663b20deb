import { type ConnectMount, type ConversationListener, ConversationUnknown, InvalidArgument } from '@parley/agent'
import {
  ConversationLocked,
  type LockPath,
  type ModelClient,
  type ModelFacts,
  TranscriptDamaged,
  openFileTranscripts,
  openMini,
} from '@parley/mini'
import type { JsonObject } from '@parley/protocol'
import { join } from 'node:path'
import { isMissing } from '@parley/codex/config'
import { type BackedConversation, BackendError, type ConversationRef, type OpenOrder } from '@parley/codex/port'
import type { Backend, ConversationShelf, SavedSettings, Workspace } from '../backend.ts'
import type { FolderCommands } from '../workspace/run-one-off.ts'
import { openWorkspace } from '../workspace/open-workspace.ts'
import type { OpenGit } from '../workspace/run-program.ts'
import { AuthFile } from './auth-file.ts'
import { ConversationFiles } from './conversation-files.ts'
import { idOf, uuidOf, uuidRandom } from './conversation-uuid.ts'
import { KeptConversation, type Seat } from './kept-conversation.ts'
import { keyedModel } from './keyed-model.ts'
import { markingTranscripts } from './marking-transcripts.ts'
import { type Recorded, readRecorded } from './recorded.ts'
import { type Settled, settle } from './settle.ts'
import { SettingsFile, parseConfig } from './settings-file.ts'

/** What our own engine needs from outside to stand behind the compatible servers. */
export interface MiniBackendOptions {
  /** Conversations, configuration and key are kept below it. */
  readonly dataFolder: string
  /** Where a conversation works that names no folder. */
  readonly folder: string
  readonly version: string
  /** Where models are; left out: at the provider's own address. A key that is stored is good for one address. */
  readonly modelAddress?: string
  /** The way to the model with this key. */
  readonly modelFor: (apiKey: string | null) => ModelClient
  readonly defaultModel: string
  readonly facts?: (model: string) => ModelFacts
  /** A key of the environment: it wins over one that is stored. */
  readonly givenKey: string | null
  /** Whether the model cannot be asked without a key. */
  readonly needsKey: boolean
  /** The configuration of a folder that the person trusts; asked for with each conversation. */
  readonly folderConfig?: () => { readonly path: string; readonly text: string } | undefined
  /** The person's own settings that win over the files, by dotted key. */
  readonly config?: JsonObject
  /** What runs commands in one folder and, when it is to be written, nowhere else. */
  readonly commandsFor: (folder: string) => FolderCommands
  /** Folders and files that no tool of a conversation reads or writes. `commandsFor` keeps them from programs. */
  readonly outOfReach?: readonly string[]
  readonly connectMount: ConnectMount
  readonly variables: (name: string) => string | undefined
  readonly lock: LockPath
  readonly git: OpenGit
  readonly now: () => number
  readonly random: (size: number) => Uint8Array
}

/** Conversations of one process at once. */
const OPEN_MAX = 64
const UNKNOWN_FACTS: ModelFacts = { contextTokens: null, maxOutputTokens: null, prices: null }
const TURN_ID_BYTES = 8

/** Our own engine behind the compatible servers, with files of its own. Nothing is opened before it is needed. */
export function openMiniBackend(options: MiniBackendOptions): Backend {
  return new MiniBackend(options)
}

class MiniBackend implements Backend {
  readonly engine = 'mini'
  readonly version: string
  readonly conversations: ConversationShelf
  readonly settings: SavedSettings
  readonly account: AuthFile
  readonly workspace: Workspace
  readonly #options: MiniBackendOptions
  readonly #files: ConversationFiles
  readonly #settings: SettingsFile
  readonly #model: ModelClient
  readonly #random: (size: number) => Uint8Array
  readonly #open = new Map<string, KeptConversation>()
  /** Places that are being taken: they count, so that the bound holds, and write files until they are settled. */
  readonly #opening = new Set<Promise<unknown>>()
  readonly #archivings = new Set<Promise<void>>()
  #isClosed = false

  constructor(options: MiniBackendOptions) {
    const { dataFolder, random, now, givenKey, needsKey, modelAddress = null, modelFor } = options
    this.#options = options
    this.version = options.version
    this.#files = new ConversationFiles(dataFolder, options.lock)
    this.#settings = new SettingsFile(join(dataFolder, 'config.toml'))
    this.#random = uuidRandom(random, now)
    const account = new AuthFile({ path: join(dataFolder, 'auth.json'), givenKey, needsKey, modelAddress })
    this.#model = keyedModel({ key: () => account.key(), modelFor, needsKey })
    this.account = account
    this.settings = this.#settings
    this.conversations = { list: (page) => this.#files.list(page), archive: (which) => this.#archiving(which) }
    this.workspace = openWorkspace(options)
  }

  async open(order: OpenOrder, listener: ConversationListener): Promise<BackedConversation> {
    return this.#enter(async () => {
      const settled = await this.#settle(order)
      return this.#keep(listener, [], (told) => this.#sit(settled, told, undefined))
    })
  }

  async resume(which: ConversationRef, order: OpenOrder, listener: ConversationListener): Promise<BackedConversation> {
    return this.#enter(async () => {
      const uuid = 'id' in which ? which.id.toLowerCase() : await this.#files.uuidAt(which.path)
      if (idOf(uuid) === undefined) throw new ConversationUnknown(uuid)
      const recorded = await this.#recorded(uuid)
      await this.#leave(uuid)
      const settled = await this.#settle(order, recorded)
      return this.#keep(listener, recorded.messages, (told) => this.#sit(settled, told, { uuid, forTurn: false }))
    })
  }

  /** Afterwards nothing of it is written any more, also of what nobody waits for. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled([...this.#opening, ...this.#archivings])
    await Promise.all(Array.from(this.#open.values(), (conversation) => conversation.close()))
    await Promise.all([this.account.written(), this.#settings.written()])
  }

  async #enter(take: () => Promise<BackedConversation>): Promise<BackedConversation> {
    if (this.#isClosed) throw new BackendError('lost', 'the server is ending')
    if (this.#open.size + this.#opening.size >= OPEN_MAX)
      throw new BackendError('too_many', `${OPEN_MAX} conversations are open: close one first`)
    const entering = this.#take(take)
    this.#opening.add(entering)
    try {
      return await entering
    } finally {
      this.#opening.delete(entering)
    }
  }

  async #take(take: () => Promise<BackedConversation>): Promise<BackedConversation> {
    try {
      const taken = await take()
      if (!this.#isClosed) return taken
      await taken.close()
      throw new BackendError('lost', 'the server is ending')
    } catch (error) {
      throw asBackendError(error)
    }
  }

  async #settle(order: OpenOrder, recorded?: Recorded): Promise<Settled> {
    const { folder, defaultModel, variables, config: given = {} } = this.#options
    const ofFolder = this.#options.folderConfig?.()
    const { config, foreignServers } = await this.#settings.read(
      ...(ofFolder === undefined
        ? []
        : [{ values: parseConfig(ofFolder.path, ofFolder.text), form: 'tables', isOwn: false } as const]),
      { values: given, form: 'keys', isOwn: true },
      { values: order.config ?? {}, form: 'keys', isOwn: false },
    )
    const context = { config, foreignServers, folder, defaultModel, variables }
    return settle(order, recorded === undefined ? context : { ...context, recorded })
  }

  async #recorded(uuid: string): Promise<Recorded> {
    try {
      return await readRecorded(this.#files.pathOf(uuid))
    } catch (cause) {
      if (isMissing(cause)) throw new ConversationUnknown(uuid)
      throw cause
    }
  }

  async #keep(
    listener: ConversationListener,
    initialMessages: KeptConversation['initialMessages'],
    sit: (listener: ConversationListener) => Promise<Seat>,
  ): Promise<KeptConversation> {
    const held: { kept?: KeptConversation } = {}
    const told: ConversationListener = {
      event: (event) => listener.event(held.kept?.named(event) ?? event),
      approve: (request, signal) => listener.approve(request, signal),
    }
    const seat = await sit(told)
    const uuid = uuidOf(seat.conversation.id)
    if (uuid === undefined) throw new TypeError(`${seat.conversation.id} stands for no UUID`)
    const { options } = seat.settled
    const kept: KeptConversation = new KeptConversation({
      id: uuid,
      rolloutPath: this.#files.pathOf(uuid),
      initialMessages,
      contextWindow: this.#facts(options.model).contextTokens,
      seat,
      sit: (settled, forTurn) => this.#sit(settled, told, { uuid, forTurn }),
      emit: (event) => listener.event(event),
      newTurnId: () => `turn_${Buffer.from(this.#options.random(TURN_ID_BYTES)).toString('hex')}`,
      closed: () => {
        if (this.#open.get(uuid) === kept) this.#open.delete(uuid)
      },
    })
    held.kept = kept
    this.#open.set(uuid, kept)
    return kept
  }

  /** One engine for each: its commands are those of the conversation's folder. */
  async #sit(
    settled: Settled,
    listener: ConversationListener,
    goesOn: { readonly uuid: string; readonly forTurn: boolean } | undefined,
  ): Promise<Seat> {
    const { commandsFor, connectMount, dataFolder, lock, now } = this.#options
    const { folder } = settled.options
    const commands = commandsFor(folder)
    const files = openFileTranscripts(this.#files.folder, { lock })
    const engine = openMini({
      model: this.#model,
      facts: (model) => this.#facts(model),
      commands,
      outOfReach: [dataFolder, ...(this.#options.outOfReach ?? [])],
      connectMount,
      transcripts: goesOn?.forTurn === true ? markingTranscripts(files) : files,
      now,
      random: this.#random,
    })
    try {
      const conversation =
        goesOn === undefined
          ? await engine.open(settled.options, listener)
          : await engine.resume(idOf(goesOn.uuid) ?? '', settled.options, listener)
      return {
        conversation,
        settled,
        close: async () => {
          await engine.close()
          await commands.close()
        },
      }
    } catch (error) {
      await commands.close()
      throw error
    }
  }

  #facts(model: string): ModelFacts {
    return this.#options.facts?.(model) ?? UNKNOWN_FACTS
  }

  /** One who takes a conversation up that is open here gets it; the earlier holder's is closed. */
  async #leave(uuid: string): Promise<void> {
    const open = this.#open.get(uuid)
    if (open?.isBusy === true)
      throw new BackendError('invalid_request', `conversation ${uuid} has a turn under way: interrupt it first`)
    await open?.close()
  }

  async #archiving(which: { readonly id: string; readonly path: string }): Promise<void> {
    const archiving = this.#archive(which)
    this.#archivings.add(archiving)
    try {
      await archiving
    } finally {
      this.#archivings.delete(archiving)
    }
  }

  async #archive(which: { readonly id: string; readonly path: string }): Promise<void> {
    await this.#files.uuidAt(which.path)
    await this.#open.get(which.id.toLowerCase())?.close()
    await this.#files.archive(which)
  }
}

function asBackendError(error: unknown): unknown {
  if (error instanceof ConversationLocked)
    return new BackendError('failed', `${error.message}: it is open in another process`, { cause: error })
  if (error instanceof TranscriptDamaged) return new BackendError('failed', error.message, { cause: error })
  if (error instanceof InvalidArgument)
    return new BackendError('invalid_request', error.message, { data: { param: error.field }, cause: error })
  return error
}
