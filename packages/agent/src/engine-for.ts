import type { EngineName, PreparedModel } from '@parley/protocol'
import type { Commands } from './commands.ts'
import type { Engine, Reach } from './engine.ts'
import type { Gate } from './gate.ts'
import type { Transcripts } from './transcript.ts'

/** What an engine is made of, beside the key and the model. */
export interface EnginePorts {
  readonly engine: EngineName
  /** Private to the job or agent that the engine works for, and hidden from what it runs. */
  readonly ownFolder: string
  /** The conversation's working folder. */
  readonly folder: string
  /** It was found to be there without links, so one that leads elsewhere by now is refused. */
  readonly unlinked?: boolean
  /** Survives this process. */
  readonly transcripts: Transcripts
  /** Left out: this machine has no sandbox that could hold what a model runs. */
  readonly commands?: Commands
  /** Left out: the approval mode alone decides. */
  readonly gate?: Gate
  /** What may be written by an engine whose own commands nobody else holds. */
  readonly reach: Reach
  /** Where a mounted server of another process reaches this one: for an engine in a box. */
  readonly mountSocket?: string
}

/** Opens the engine of one conversation. The key is asked for before each request: another turn may have another one. */
export type EngineFor = (prepared: () => PreparedModel, ports: EnginePorts) => Engine | Promise<Engine>
