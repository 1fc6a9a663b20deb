import { isAbsolute, join } from 'node:path'
import * as z from 'zod'
import type { ApprovalMode, CommandOutcome, Commands } from '@parley/agent'
import { messageOf } from '@parley/protocol/wire'
import { BadArguments, type BoundTool, type RunContext, type ToolResult } from './toolbox.ts'
import { TOOL_BOUNDS } from './bounds.ts'
import type { Folder } from './folder/folder.ts'
import { PathRefused } from './folder/path-refused.ts'
import { HeadAndTail } from './head-and-tail.ts'
import { ownTool } from './own-tool.ts'
import { failed } from './result.ts'

const BASE = {
  command: z
    .union([z.string().min(1), z.array(z.string()).min(1)])
    .describe('A line for bash, or a program and its arguments as a list.'),
  workdir: z.string().nullable().describe('A folder below the working folder; null for the working folder itself.'),
  timeout_ms: z.int().min(1).nullable().describe('Milliseconds after which it is killed; null for the usual time.'),
}

const Plain = z.strictObject(BASE)
const Asking = z.strictObject({
  ...BASE,
  with_escalated_permissions: z.boolean().nullable().describe('True asks a person to let it run outside the sandbox.'),
  justification: z.string().nullable().describe('One sentence for that person: why it needs more. Null if it does not.'),
})

export interface ShellParts {
  readonly commands: Commands
  readonly folder: Folder
  readonly approvals: ApprovalMode
  readonly commandMs: number
  readonly longestMs: number
  readonly resultBytes: number
}

export function shellTool(parts: ShellParts): BoundTool {
  const { folder, approvals, commandMs, longestMs } = parts
  const description = `Runs a command in a sandbox, by default in the working folder, and answers its exit code and what it wrote. It has no terminal and no input. It is killed after ${commandMs} ms unless timeout_ms says otherwise (${longestMs} at most). Long output loses its middle: filter it with the command itself.`
  const subject = ({ command, workdir }: z.infer<typeof Plain>) => ({
    kind: 'command' as const,
    argv: argvOf(command),
    folder: workdir === null ? folder.path : lexicallyBelow(folder.path, workdir),
  })
  const run = (input: z.infer<typeof Plain>, context: RunContext): Promise<ToolResult> => runCommand(parts, input, context)
  const tool = { name: 'shell', description, subject, run } as const
  return approvals === 'on-request' ? ownTool({ ...tool, input: Asking }) : ownTool({ ...tool, input: Plain })
}

function argvOf(command: string | readonly string[]): readonly string[] {
  const argv = typeof command === 'string' ? ['bash', '-lc', command] : command
  if (argv.some((argument) => argument.includes('\0'))) throw new BadArguments('command: an argument has no NUL byte')
  if (argv[0] === '') throw new BadArguments('command: the program has no name')
  return argv
}

const lexicallyBelow = (folder: string, workdir: string): string => (isAbsolute(workdir) ? workdir : join(folder, workdir))

async function runCommand(parts: ShellParts, input: z.infer<typeof Plain>, context: RunContext): Promise<ToolResult> {
  const { commands, folder, commandMs, longestMs, resultBytes } = parts
  const { call, reach, network, emit, signal } = context
  signal.throwIfAborted()
  const place = placeOf(folder, input.workdir, context)
  if (place instanceof PathRefused) return { ...failed(place.message), exitCode: null, output: '' }
  const timeoutMs = Math.min(input.timeout_ms ?? commandMs, longestMs)
  const streams = { stdout: new HeadAndTail(Math.floor(resultBytes / 2)), stderr: new HeadAndTail(Math.floor(resultBytes / 2)) }
  const both = new HeadAndTail(resultBytes)
  const stream = boundedEmit((name, bytes) => emit({ type: 'command_output', call, stream: name, bytes }))
  const request = { argv: argvOf(input.command), folder: place, timeoutMs, reach, network, outputBytes: resultBytes }
  try {
    const outcome = await commands.run(
      request,
      (name, bytes) => {
        streams[name].add(bytes)
        both.add(bytes)
        stream(name, bytes)
      },
      signal,
    )
    signal.throwIfAborted()
    return told(outcome, { streams, both, timeoutMs, resultBytes })
  } catch (error) {
    if (signal.aborted) throw error
    return { ...failed(`the command could not be run: ${messageOf(error)}`), exitCode: null, output: both.text() }
  }
}

function placeOf(folder: Folder, workdir: string | null, { reach }: RunContext): string | PathRefused {
  if (workdir === null) return folder.path
  try {
    using opened = folder.openFolder(workdir, reach)
    return opened.path
  } catch (error) {
    if (error instanceof PathRefused) return error
    throw error
  }
}

type Emit = (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void

/** A command that never stops writing must not fill whatever listens. */
function boundedEmit(emit: Emit): Emit {
  let left: number = TOOL_BOUNDS.streamedBytes
  return (stream, bytes) => {
    if (left <= 0) return
    emit(stream, Uint8Array.from(bytes.subarray(0, left)))
    left -= bytes.length
    if (left <= 0) emit(stream, Buffer.from('\n… the rest of the output is not shown …\n'))
  }
}

interface Heard {
  readonly streams: { readonly stdout: HeadAndTail; readonly stderr: HeadAndTail }
  readonly both: HeadAndTail
  readonly timeoutMs: number
  readonly resultBytes: number
}

function told(outcome: CommandOutcome, { streams, both, timeoutMs, resultBytes }: Heard): ToolResult {
  const stdout = textOf(streams.stdout, outcome.stdout, outcome.stdoutBytes, resultBytes)
  const stderr = textOf(streams.stderr, outcome.stderr, outcome.stderrBytes, resultBytes)
  const sections = [
    endOf(outcome, timeoutMs),
    stdout === '' ? '' : `stdout:\n${stdout}`,
    stderr === '' ? '' : `stderr:\n${stderr}`,
    stdout === '' && stderr === '' ? '(no output)' : '',
  ]
  const isError = outcome.exitCode !== 0 || outcome.timedOut
  const output = both.total > 0 ? both.text() : stdout + stderr
  return {
    parts: [{ type: 'text', text: sections.filter((section) => section !== '').join('\n') }],
    isError,
    exitCode: outcome.exitCode,
    output,
  }
}

function endOf({ exitCode, signal, timedOut, message, durationMs }: CommandOutcome, timeoutMs: number): string {
  const seconds = `${(durationMs / 1000).toFixed(1)} s`
  const words = message === null ? '' : ` (${message})`
  if (timedOut) return `timed out: it was killed after ${timeoutMs} ms${words}. Ask for more with timeout_ms if it needs more.`
  if (exitCode !== null) return `exit code ${exitCode} after ${seconds}${words}`
  if (signal !== null) return `killed by ${signal} after ${seconds}${words}`
  return `the command did not run: ${message ?? 'nobody knows why'}`
}

/** What was streamed has head and tail; where the port streamed less than it counted, what it kept. */
function textOf(heard: HeadAndTail, kept: Uint8Array, totalBytes: number, resultBytes: number): string {
  if (heard.total >= totalBytes) return heard.text()
  const instead = new HeadAndTail(Math.floor(resultBytes / 2))
  instead.add(kept)
  const lost = totalBytes - kept.length
  return instead.text() + (lost > 0 ? `\n… ${lost} bytes left out …\n` : '')
}
