import { isJsonObject } from '@parley/protocol'
import { CONTRACT_MOUNT, type Move, type ScriptedAnswer } from '@parley/agent/testing'
import { type Answer, FAILURES, type Piece, type ReceivedRequest, errorReply } from '@parley/agent/testing/model-server'

/** A model that wants a command waits for it this long before it looks away; the longest that Codex allows. */
const YIELD_MS = 30_000

/** What a model of ours must answer so that this version of Codex does what the script says. */
export function codexModelAnswers(version: string, answer: ScriptedAnswer): (request: ReceivedRequest) => Answer {
  if ('hang' in answer) return () => ({ silent: true })
  if ('stall' in answer)
    return () => ({ pieces: [{ text: `${answer.stall} ${'…'.repeat(200)}` }], manner: { stallAfterEvents: 6 } })
  if ('refuse' in answer) return () => ({ pieces: [{ refusal: answer.refuse }] })
  if ('fail' in answer) {
    const reply =
      answer.fail === 'unauthorized' ? FAILURES.badKey('key') : errorReply(400, 'invalid_value', 'This cannot be done.')
    return () => reply
  }
  return (request) => ({ pieces: answer.map((move) => pieceOf(version, move, request)), manner: { deltaCharacters: 8 } })
}

/** One move in the tools of this version. */
export function pieceOf(version: string, move: Move, request: ReceivedRequest): Piece {
  if ('say' in move) return { text: move.say }
  if ('think' in move) return { reasoning: move.think, encrypted: 'sealed' }
  if ('plan' in move) return { call: 'update_plan', arguments: { plan: move.plan.map((step) => ({ ...step })) } }
  if ('use' in move) return { ...toolCall(version, move.use, request), arguments: move.arguments }
  if ('run' in move) {
    if (hasShell(version)) return { call: 'shell', arguments: { command: [...move.run] } }
    return { call: 'exec_command', arguments: { cmd: move.run.map(quoted).join(' '), yield_time_ms: YIELD_MS } }
  }
  if (hasShell(version)) return { call: 'shell', arguments: { command: ['apply_patch', move.patch] } }
  const cmd = `apply_patch <<'PATCH'\n${move.patch}\nPATCH\n`
  return { call: 'exec_command', arguments: { cmd, yield_time_ms: YIELD_MS } }
}

/** Up to 0.45 the command tool is `shell` and takes an argv; measured from 0.100 on it is `exec_command` and takes a line. */
function hasShell(version: string): boolean {
  return minorOf(version) < 100
}

export const minorOf = (version: string): number => Number(version.split('.')[1] ?? Number.NaN)

/** Newer versions put the tools of a server into a namespace, older ones make one flat name; the request shows which. */
function toolCall(version: string, tool: string, { body }: ReceivedRequest): { call: string; extra?: { namespace: string } } {
  const tools = Array.isArray(body['tools']) ? body['tools'].filter(isJsonObject) : []
  const flat = tools.find(({ name }) => typeof name === 'string' && name.endsWith(`${CONTRACT_MOUNT}__${tool}`))
  if (typeof flat?.['name'] === 'string') return { call: flat['name'] }
  const space = tools.find(({ type, name }) => type === 'namespace' && typeof name === 'string' && name.includes(CONTRACT_MOUNT))
  if (typeof space?.['name'] === 'string') return { call: tool, extra: { namespace: space['name'] } }
  if (hasShell(version)) return { call: `${CONTRACT_MOUNT}__${tool}` }
  return { call: tool, extra: { namespace: `mcp__${CONTRACT_MOUNT}` } }
}

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)
