/** Every bound of agents and what is mounted for them, by name. */
export const AGENT_LIMITS = {
  /** Agents that one person has at once. */
  perPerson: 100,
  mounts: 32,
  /** Instructions, in bytes. */
  instructionsBytes: 256 * 1024,
  /** What an agent listens to by itself. */
  subscriptions: 1_024,
  /** One entry of its log of calls. */
  callEntryBytes: 64 * 1024,
  /** All of its log of calls: beyond it the oldest lines go, and those that are older than this go anyhow. */
  callsBytes: 64 * 1024 * 1024,
  callsKeptMs: 90 * 86_400_000,
  /** What a person tells a local agent at once, and how much of it waits for its turn. */
  promptBytes: 1024 * 1024,
  promptsQueued: 100,
  /** Prompts that have ended are kept so many to an agent; the transcript has them all. */
  promptsKept: 1_000,
  /** How much of the last message of a turn stands with its prompt. */
  answerBytes: 256 * 1024,
  /** What is said of one piece of news, and the longest URI that is waited for. */
  newsChars: 4_096,
  uriChars: 4_096,
  /** News that an agent has not been told: beyond it the oldest goes. */
  newsKept: 2_048,
  /** How much of it one request to a model is told: pieces, and characters of them. */
  noticeItems: 100,
  noticeChars: 64 * 1024,
  /** How many resources an agent names that may wake it, and how long it may rest until a time. */
  yieldResources: 64,
  yieldS: 7 * 86_400,
  /** The rarest that changes of resources may wake an agent. */
  wakeEveryS: 86_400,
  /** A host tells of changes of one resource at most so often, and reads no more of it than this to know it again. */
  tellNewsMs: 500,
  digestBytes: 1024 * 1024,
  digestMs: 30_000,
  /** Timers of agents that one gateway looks at in a second. */
  timersAtOnce: 100,
  timersMs: 1_000,
  /** Calls of an agent that go on in the background at once, and how many are kept with those that ended. */
  backgroundRunning: 16,
  backgroundKept: 100,
  /** What such a call may be made with, what of its result is kept, and what of all results of one agent. */
  backgroundArgumentsBytes: 256 * 1024,
  backgroundResultBytes: 1024 * 1024,
  backgroundResultsBytes: 16 * 1024 * 1024,
  backgroundMessageChars: 2_000,
  /** One line of a transcript, and what one call reads of it. All of it: as any log of the store, 64 MiB. */
  transcriptLineBytes: 2 * 1024 * 1024,
  transcriptPageBytes: 1024 * 1024,
  /** The longest that somebody waits in one call for the end of a turn, or for more of a log. */
  runWaitMs: 3_600_000,
  logWaitMs: 30_000,
  /** How long a host holds an agent without a word. */
  leaseMs: 15_000,
  /** How long a client waits for a host to take its agent before it is told to come again. */
  wakeMs: 10_000,
  /** After so long without a client an agent sleeps. */
  quietMs: 60_000,
  /** The longest that a host waits for an agent to hold. */
  claimWaitMs: 30_000,
  /** Agents that a host holds at once, whatever it says. */
  slots: 1_024,
  /** How long the deletion of an agent waits for the host that holds it to end what runs for it. */
  drainMs: 10_000,
  /** Agents that a host asks about at once: whether there still are any such. */
  knownIds: 64,
} as const
