import { audienceOf, type GatewayCaller, GatewayRefused, type ServedTool } from '@parley/access'
import { type Audience, type HeldScopes, type Role, isAdmitted } from '@parley/protocol'
import type { Logger } from 'pino'
import type { ToolCount } from '../metric/metrics.ts'
import { SERVED_RESOURCES } from '../resources.ts'
import { BUILT_IN_TOOLS } from '../tools.ts'
import type { World } from '../world.ts'
import type { InFlight } from './in-flight.ts'
import { RoleService } from './role-service.ts'

const INSTRUCTIONS: Record<Audience, string> = {
  user: 'Parley for a person: your jobs and your account.',
  admin: 'Parley for an admin: jobs, judges, accounts, tokens and the audit log of this installation.',
  judge: 'Parley for a judge.',
  agent: 'Parley for an agent.',
  host: 'Parley for a host of agents.',
  executor: 'Parley for an executor.',
}

const KINDS: Record<Audience, { readonly role: Role; readonly admin: boolean }> = {
  user: { role: 'user', admin: false },
  admin: { role: 'user', admin: true },
  judge: { role: 'judge', admin: false },
  agent: { role: 'agent', admin: false },
  host: { role: 'host', admin: false },
  executor: { role: 'executor', admin: false },
}

/** One server per kind of caller, made once; with scopes one for each set of them that somebody comes with, of which there are few. */
export function openRoleServices(options: {
  readonly world: World
  readonly version: string
  readonly log: Logger
  readonly count: ToolCount
  readonly inFlight: InFlight
  readonly extraTools: readonly ServedTool<World>[]
}): (caller: GatewayCaller) => RoleService {
  const { world, version, log, count, inFlight } = options
  const tools = allTools(options.extraTools)
  const serviceOf = (audience: Audience, scopes: HeldScopes = null): RoleService => {
    const kind = KINDS[audience]
    const admits = ({ spec }: { readonly spec: { readonly roles: readonly Audience[] } }) => isAdmitted(spec.roles, kind)
    return new RoleService({
      info: { name: 'parley', version, role: kind.role, ...(kind.admin ? { admin: true } : {}) },
      instructions: INSTRUCTIONS[audience],
      scopes,
      tools: tools.filter(admits),
      resources: SERVED_RESOURCES.filter(admits),
      world,
      log,
      count,
      inFlight,
    })
  }
  const services = {
    user: serviceOf('user'),
    admin: serviceOf('admin'),
    judge: serviceOf('judge'),
    agent: serviceOf('agent'),
    host: serviceOf('host'),
    executor: serviceOf('executor'),
  }
  const limited = new Map<string, RoleService>()
  return (caller) => {
    const { scopes } = caller
    const audience = audienceOf(caller)
    if (scopes === null) return services[audience]
    const key = [audience, ...scopes].join(' ')
    const known = limited.get(key) ?? serviceOf(audience, scopes)
    limited.set(key, known)
    return known
  }
}

function allTools(extra: readonly ServedTool<World>[]): readonly ServedTool<World>[] {
  const tools = [...Object.values(BUILT_IN_TOOLS), ...extra]
  const names = new Set<string>()
  for (const { spec } of tools) {
    if (names.has(spec.name)) throw new GatewayRefused('duplicate_tool', `two tools are called ${spec.name}`)
    names.add(spec.name)
  }
  return tools
}
