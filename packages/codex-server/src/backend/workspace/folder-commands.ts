import type { Commands } from '@parley/agent'

/** The commands of one folder: all that they may write to, unless they may do anything. */
export interface FolderCommands extends Commands {
  /** Ends what runs. Commands that come later are refused. */
  close(): Promise<void>
}
