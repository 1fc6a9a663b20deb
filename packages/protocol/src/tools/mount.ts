import * as z from 'zod'
import { MountName, MountSettings, ServerSpec, MountReport } from '../agent/mount.ts'
import { MountSignIn } from '../agent/sign-in.ts'
import { AgentId } from '../ids.ts'
import { ENDS, READS, SETS, tool } from '../tool.ts'

/** A mount as its owner sees it. Values of variables and headers are masked. */
export const Mount = z.object({
  agent_id: AgentId,
  name: z.string(),
  server: z.looseObject({ kind: z.enum(['stdio', 'http']) }),
  options: MountSettings,
  /** Whether somebody signed in at its server (mount.sign_in). */
  signed_in: z.boolean(),
  /** Grows with each change. */
  version: z.int(),
  attached_at: z.iso.datetime(),
  /** What its host last said of it; null while no host holds the agent. */
  state: MountReport.nullable(),
})
export type Mount = z.infer<typeof Mount>

export const mountAttach = tool({
  name: 'mount.attach',
  roles: ['user'],
  scopes: ['agents'],
  doc: 'Mounts an MCP server for an agent, or replaces the mount of that name. A program runs boxed unless an admin granted you more (grant.set).',
  input: z.strictObject({
    agent_id: AgentId,
    name: MountName,
    server: ServerSpec,
    options: MountSettings.prefault({}),
  }),
  output: Mount,
  annotations: SETS,
})

export const mountSignIn = tool({
  name: 'mount.sign_in',
  roles: ['user'],
  scopes: ['agents'],
  doc: 'Hands over the tokens of a sign-in at the server of a mount, as `parley mount login` gets them in a browser. They are sealed, renewed by the host that holds the agent, and shown to nobody.',
  input: z.strictObject({ agent_id: AgentId, name: z.string().max(64), sign_in: MountSignIn }),
  output: Mount,
  annotations: SETS,
})

export const mountDetach = tool({
  name: 'mount.detach',
  roles: ['user'],
  scopes: ['agents'],
  doc: 'Takes a mount off an agent; its program ends.',
  input: z.strictObject({ agent_id: AgentId, name: z.string().max(64) }),
  output: z.object({ agent_id: AgentId, name: z.string(), detached: z.boolean() }),
  annotations: ENDS,
})

export const mountList = tool({
  name: 'mount.list',
  roles: ['user'],
  scopes: ['agents'],
  doc: 'The mounts of an agent, with what became of each. Secrets are masked.',
  input: z.strictObject({ agent_id: AgentId }),
  output: z.object({ items: z.array(Mount) }),
  annotations: READS,
})
