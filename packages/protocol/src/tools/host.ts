import * as z from 'zod'
import { AgentKind, AgentSettings } from '../agent/agent.ts'
import { AGENT_LIMITS } from '../agent/limits.ts'
import { MountSettings, ServerSpec, MountReport } from '../agent/mount.ts'
import { AgentRest } from '../agent/wake.ts'
import { MountSignIn } from '../agent/sign-in.ts'
import { AgentId } from '../ids.ts'
import { Allowance } from '../policy/allowance.ts'
import { CallKind, PolicyLayer } from '../policy/decision.ts'
import { ENDS, READS, SETS, tool } from '../tool.ts'
import { WorkerName } from '../worker-name.ts'
import { ExecutorView } from './worker.ts'

/** One host taking an agent; the fence of every write about it. */
const ClaimId = z.string().regex(/^[0-9]{1,16}$/, 'must be a claim of host.claim_next')
export const AgentClaim = z.strictObject({ agent_id: AgentId, claim_id: ClaimId })
export type AgentClaim = z.infer<typeof AgentClaim>

/** What a host is told about an agent that it holds. `release`: it was deleted, and nothing of it is to stay. */
export const HostAction = z.enum(['update', 'prompt', 'news', 'abort', 'release'])
export type HostAction = z.infer<typeof HostAction>

/** Whom a request on the tunnel of an agent is made for: under this name in its `_meta`. */
/** Why a host that stops, or hands an agent on, ends the tunnels to it: an ordinary end, of which nobody has to be warned. */
export const LET_GO = 'the agent is let go of'

export const CALLER_META = 'parley/caller'
/** `link` tells the sessions of one token apart. */
export const CallerMeta = z.object({ key: z.string(), link: z.string().optional() })
export type CallerMeta = z.infer<typeof CallerMeta>

/** What is decided about a call that no rule of any policy covers; `ask`: a person is asked. */
export const GateDefault = z.enum(['allow', 'ask', 'deny'])
export type GateDefault = z.infer<typeof GateDefault>

export const hostClaimNext = tool({
  name: 'host.claim_next',
  roles: ['host'],
  doc: 'The next agent that is to be awake, or nothing after `wait_ms`. It is this host’s until the lease ends; host.renew keeps it.',
  input: z.strictObject({ wait_ms: z.int().min(0).max(AGENT_LIMITS.claimWaitMs).default(AGENT_LIMITS.claimWaitMs) }),
  output: z.object({ claim: AgentClaim.nullable(), lease_ms: z.int() }),
  annotations: SETS,
})

export const hostRenew = tool({
  name: 'host.renew',
  roles: ['host'],
  doc: 'Keeps the agents that this host holds. `lost` are those that it holds no more: it stops all that belongs to them.',
  input: z.strictObject({ claims: z.array(AgentClaim).max(AGENT_LIMITS.slots) }),
  output: z.object({ lost: z.array(AgentId), lease_ms: z.int() }),
  annotations: SETS,
})

export const hostRelease = tool({
  name: 'host.release',
  roles: ['host'],
  doc: 'Lets go of an agent: `asleep` when nobody needs it now, otherwise another host takes it.',
  input: z.strictObject({ ...AgentClaim.shape, asleep: z.boolean().default(false) }),
  output: z.object({ agent_id: AgentId, released: z.literal(true) }),
  annotations: ENDS,
})

export const hostAgentsKnown = tool({
  name: 'host.agents_known',
  roles: ['host'],
  doc: 'Which of these agents there still are. What a host keeps of the others it removes; `installation` tells it whether they were of this one.',
  input: z.strictObject({ agent_ids: z.array(AgentId).max(AGENT_LIMITS.knownIds) }),
  output: z.object({ installation: z.string(), known: z.array(AgentId) }),
  annotations: READS,
})

/** A mount with its secrets, for the host that holds its agent. */
const HeldMount = z.object({
  name: z.string(),
  server: ServerSpec,
  options: MountSettings,
  version: z.int(),
  /** What signing in at its server gave, where somebody did. */
  sign_in: MountSignIn.nullable(),
  /** Why it may not run, where that is so: what was granted has changed since it was attached. */
  refused: z.string().nullable(),
  /** The granted folder below which its folder must really lie, links followed; null where it names none, or one of an executor. */
  folder_granted: z.string().nullable(),
})
export type HeldMount = z.infer<typeof HeldMount>

export const hostAgentGet = tool({
  name: 'host.agent_get',
  roles: ['host'],
  doc: 'All that a host needs to hold an agent: settings, mounts with their secrets, what it listens to.',
  input: AgentClaim,
  output: AgentSettings.extend({
    agent_id: AgentId,
    name: z.string(),
    kind: AgentKind,
    owner: z.string(),
    /** Grows with each change of the agent or its mounts. */
    version: z.int(),
    mounts: z.array(HeldMount),
    subscriptions: z.array(z.string()),
    /** For what a local one rests that ended its last turn itself. */
    rest: AgentRest.nullable(),
    /** Where the log of its calls ends. */
    calls_offset: z.int(),
    /** Where its transcript ends. */
    transcript_offset: z.int(),
    gate: GateDefault,
    /** The policies that are active for it, as JSON, and one name for just these. */
    policies: z.array(z.object({ layer: PolicyLayer, version: z.int(), sha256: z.string(), document_json: z.string() })),
    policy: z.string(),
    allowances: z.array(Allowance),
    /** Calls of the last day that were let through, by minute, where a policy goes by how many such there were. */
    counted: z.array(
      z.object({ kind: CallKind, mount: z.string().nullable(), name: z.string(), minute: z.int(), calls: z.int() }),
    ),
    /** The minute from which on these are all; 0: of the whole day. */
    counted_from: z.int(),
    /** Whether mounts may reach addresses that are not public. */
    private_http: z.boolean(),
    /** Why its folder may not be used, where that is so. */
    folder_refused: z.string().nullable(),
    /** The granted folder below which its own must really lie, links followed; null where it has none that was given. */
    folder_granted: z.string().nullable(),
  }),
  annotations: READS,
})

export const hostAgentReport = tool({
  name: 'host.agent_report',
  roles: ['host'],
  doc: 'What became of the mounts of an agent that this host holds.',
  input: z.strictObject({ ...AgentClaim.shape, mounts: z.array(MountReport).max(AGENT_LIMITS.mounts) }),
  output: z.object({ agent_id: AgentId }),
  annotations: SETS,
})

export const hostAgentListen = tool({
  name: 'host.agent_listen',
  roles: ['host'],
  doc: 'Keeps what an agent listens to by itself, so that it goes on after a restart.',
  input: z.strictObject({
    ...AgentClaim.shape,
    uri: z.string().min(1).max(AGENT_LIMITS.uriChars),
    listens: z.boolean(),
    /** Of its content now: from another one on it is told of. */
    digest: z.string().max(128).nullable().default(null),
  }),
  output: z.object({ agent_id: AgentId, uri: z.string(), listens: z.boolean() }),
  annotations: SETS,
})

export const hostMountRenewed = tool({
  name: 'host.mount_renewed',
  roles: ['host'],
  doc: 'Keeps renewed tokens of a mount, so that the next host has them. `kept` is false when the mount was attached anew meanwhile.',
  input: z.strictObject({ ...AgentClaim.shape, name: z.string().max(64), version: z.int(), sign_in: MountSignIn }),
  output: z.object({ agent_id: AgentId, name: z.string(), kept: z.boolean() }),
  annotations: SETS,
})

export const hostAppendCalls = tool({
  name: 'host.append_calls',
  roles: ['host'],
  doc: 'Adds lines to the log of an agent’s calls, at the offset where it stands. A resend is recognised.',
  input: z.strictObject({
    ...AgentClaim.shape,
    offset: z.int().min(0),
    lines: z.array(z.string().max(AGENT_LIMITS.callEntryBytes)).min(1).max(1_000),
  }),
  output: z.discriminatedUnion('ok', [
    z.object({ ok: z.literal(true), next_offset: z.int() }),
    z.object({ ok: z.literal(false), code: z.literal('offset_mismatch'), current_offset: z.int() }),
  ]),
  annotations: SETS,
})

/** A host as admins see it: as an executor, `load.running` are the agents that it holds. */
export const HostView = ExecutorView
export type HostView = z.infer<typeof HostView>

export const hostList = tool({
  name: 'host.list',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'The hosts that are here, with their slots and how many agents each holds; `gone: true` adds those of the last day that left.',
  input: z.strictObject({ gone: z.boolean().default(false) }),
  output: z.object({ items: z.array(HostView) }),
  annotations: READS,
})

export const hostDrain = tool({
  name: 'host.drain',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'Tells a host to give its agents back and take no new ones. `drain: false` takes it back.',
  input: z.strictObject({ name: WorkerName, drain: z.boolean().default(true) }),
  output: z.object({ name: WorkerName, drain: z.boolean() }),
  annotations: SETS,
})
