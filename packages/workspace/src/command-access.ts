import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandOutcome } from '@parley/agent'
import type { BoxFile, ProxyNetwork, RunRequest } from '@parley/sandbox'
import type { CommandDoor } from './command-door.ts'
import { MaskedStream, maskedBytes } from './masked-stream.ts'

export type OutputListener = (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void

/** What one command has of a door, from its begin to its end. */
export interface CommandAccess {
  readonly order: Pick<RunRequest, 'environment' | 'files'>
  /** What it says, and how it ended, without its token: that is in no log. */
  readonly output: OutputListener
  told(outcome: CommandOutcome): CommandOutcome
  /** Its token is good for nothing any more. */
  end(): void
}

/** The port of the box's own loopback behind which the door is. */
const DOOR_PORT = 41_717
const PROGRAM = 'parley-agent'
/** In the box, which is the home of the command, and new with each. */
const PROGRAM_FOLDER = '.parley'
const PROGRAM_SOURCE = join(import.meta.dirname, '..', 'program', `${PROGRAM}.ts`)
/** The Node that runs us is the one program beside the system's that every box can show. */
export const NODE = realpathSync(process.execPath)

/** The door, and nothing else: programs have no local sockets, so that no other listener in what they see is in reach. */
export const networkTo = ({ socketPath }: CommandDoor): ProxyNetwork => ({
  kind: 'proxy',
  port: DOOR_PORT,
  socketPath,
  localSockets: false,
})

export function openAccess(
  door: CommandDoor,
  environment: Readonly<Record<string, string>>,
  output: OutputListener,
): CommandAccess {
  const pass = door.pass()
  const { token } = pass
  const streams = { stdout: new MaskedStream(token), stderr: new MaskedStream(token) }
  return {
    order: {
      environment: {
        ...environment,
        PATH: `${environment['PATH'] ?? ''}:/box/${PROGRAM_FOLDER}`,
        PARLEY_AGENT_SOCKET: `127.0.0.1:${DOOR_PORT}`,
        PARLEY_AGENT_TOKEN: token,
      },
      files: programFiles(),
    },
    output: (stream, bytes) => tell(output, stream, streams[stream].push(bytes)),
    told: (outcome) => {
      for (const stream of ['stdout', 'stderr'] as const) tell(output, stream, streams[stream].end())
      return { ...outcome, stdout: maskedBytes(outcome.stdout, token), stderr: maskedBytes(outcome.stderr, token) }
    },
    end: () => pass.end(),
  }
}

function tell(output: OutputListener, stream: 'stdout' | 'stderr', bytes: Uint8Array): void {
  if (bytes.length > 0) output(stream, bytes)
}

let program: readonly BoxFile[] | undefined

/** A shell line that starts it, so that it has a plain name, and the program itself. */
function programFiles(): readonly BoxFile[] {
  const start = `#!/bin/sh\nexec '${NODE.replaceAll("'", String.raw`'\''`)}' /box/${PROGRAM_FOLDER}/${PROGRAM}.mts "$@"\n`
  program ??= [
    { name: `${PROGRAM_FOLDER}/${PROGRAM}`, from: { bytes: Buffer.from(start) }, executable: true },
    { name: `${PROGRAM_FOLDER}/${PROGRAM}.mts`, from: { bytes: readFileSync(PROGRAM_SOURCE) } },
  ]
  return program
}
