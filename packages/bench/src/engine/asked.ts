import * as z from 'zod'

/** What a client process is to do: so many conversations side by side, each of so many turns, after others that do not count. */
export const Asked = z.object({
  url: z.string(),
  conversations: z.int().min(1),
  turns: z.int().min(1),
  /** How often all of it is done before, in conversations of its own: a process that runs for days is not measured cold. */
  warmUps: z.int().min(0),
  /** What the engine asks first; a client without an engine asks the same, with its own input. */
  request: z.record(z.string(), z.unknown()),
})
export type Asked = z.infer<typeof Asked>

/** What it found. A turn is two requests: one is answered with a call of a tool, the other with text. */
export const Found = z.object({
  turnsPerSecond: z.number(),
  cpuMsPerTurn: z.number(),
  /** How long each conversation took. */
  conversationMs: z.array(z.number()),
})
export type Found = z.infer<typeof Found>

export const MODEL = 'bench'
export const TOOL = 'echo'
export const ARGUMENTS = { text: 'the quick brown fox' }
export const SAID = 'Done: the tool said what it was told.'
export const INSTRUCTIONS = 'Call the tool, then say what it said.'
export const PROMPT = 'Please go on.'

/** The answers of the model, for as many turns. */
export const answersFor = (turns: number): object[] =>
  Array.from({ length: turns }, () => [
    { pieces: [{ call: `bench_${TOOL}`, arguments: ARGUMENTS }] },
    { pieces: [{ text: SAID }] },
  ]).flat()

/** Runs the turns of all conversations and prints what was found, on one line. */
export async function measure(asked: Asked, open: (number: number) => Promise<() => Promise<void>>): Promise<void> {
  const openAll = () => Promise.all(Array.from({ length: asked.conversations }, (_, index) => open(index)))
  const turns = async (turn: () => Promise<void>, count: number): Promise<number> => {
    const began = performance.now()
    for (let index = 0; index < count; index += 1) await turn()
    return performance.now() - began
  }
  const runAll = async (conversations: readonly (() => Promise<void>)[]): Promise<number[]> =>
    Promise.all(conversations.map((turn) => turns(turn, asked.turns)))
  for (let warmUp = 0; warmUp < asked.warmUps; warmUp += 1) await runAll(await openAll())
  const conversations = await openAll()
  // The first turn of a conversation also connects what it mounts.
  await Promise.all(conversations.map((turn) => turn()))
  const cpu = process.cpuUsage()
  const began = performance.now()
  const conversationMs = await runAll(conversations)
  const all = asked.turns * asked.conversations
  const { user, system } = process.cpuUsage(cpu)
  const found: Found = {
    turnsPerSecond: (all * 1_000) / (performance.now() - began),
    cpuMsPerTurn: (user + system) / 1_000 / all,
    conversationMs,
  }
  process.stdout.write(`${JSON.stringify(found)}\n`)
}
