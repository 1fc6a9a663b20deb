import type { Workspace } from '../backend.ts'
import { diffToRemote } from './diff-to-remote.ts'
import { type FolderCommands, runOneOff } from './run-one-off.ts'
import type { OpenGit } from './run-program.ts'
import { searchFiles } from './search-files.ts'

export interface WorkspacePorts {
  /** Of the process. */
  readonly folder: string
  readonly commandsFor: (folder: string) => FolderCommands
  readonly git: OpenGit
}

/** The machine's files and programs, by our own means. */
export function openWorkspace(ports: WorkspacePorts): Workspace {
  return {
    diffToRemote: (folder) => diffToRemote(folder, ports.git),
    exec: (command, signal) => runOneOff(command, ports, signal),
    search: ({ query, roots }, signal) => searchFiles(query, roots, signal),
  }
}
