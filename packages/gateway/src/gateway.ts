import {
  fixedTokens,
  type GatewayCaller,
  GatewayRefused,
  isTokenText,
  localCaller,
  openAuthenticate,
  openExternalTokens,
  openIdentify,
  openLastUse,
  openSignInTokens,
  openTokenWatch,
  RECHECK_MS,
  type WorkerTokens,
} from '@parley/access'
import { JOB_LIMITS, Meter } from '@parley/protocol'
import { Denied, type Door, type HttpServer, MeterTable, openHttpServer } from '@parley/rpc'
import { openModelProxy, seedChannels, seedFault } from '@parley/models'
import { AgentServices } from './agent/agent-services.ts'
import { executorRefusal } from './agent/executor-refusal.ts'
import { openSettingsTrace } from './channel/settings-trace.ts'
import { welcomeFirstAdmin } from './first-admin.ts'
import { authRoutes } from './http/auth-routes.ts'
import { healthRoutes } from './http/health-routes.ts'
import { metricsRoute } from './http/metrics-route.ts'
import { pageRoute } from './http/page-route.ts'
import { Metrics } from './metric/metrics.ts'
import { openObserver } from './observe.ts'
import { dialledUrl } from './http/dialled-url.ts'
import { DEFAULT_CALLS, DEFAULT_SIGN_IN, type Gateway, type GatewayOptions } from './options.ts'
import { claimDatabase, deriveKeys } from './keys.ts'
import { InFlight } from './service/in-flight.ts'
import { openRoleServices } from './service/role-services.ts'
import { openSweeper, openTimers, settleReservations } from './sweep.ts'
import { Tunnels } from './tunnel/tunnels.ts'
import { openWorld } from './world.ts'

const WORKER_TOKEN_MIN_CHARS = 32
const PEOPLE_METERED_MAX = 20_000
/** However short the grace, streams get this long to be told that we go. */
const FAREWELL_MS = 250
const RETRY_SECONDS = 2

/** Starts a gateway on a store: authenticates, and serves each role its own server. Throws `GatewayRefused` when it must not start. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { store, log, now, random } = options
  const keys = deriveKeys(options.secret)
  const workerTokens = {
    ...(options.judgeToken === undefined ? {} : { judge: options.judgeToken }),
    ...(options.hostToken === undefined ? {} : { host: options.hostToken }),
    ...(options.executorToken === undefined ? {} : { executor: options.executorToken }),
  }
  checkWorkerTokens(workerTokens)
  await claimDatabase(store.settings, keys)
  const unfit = seedFault(options.channels ?? [])
  if (unfit !== undefined) throw new GatewayRefused('channel_invalid', unfit)

  let base = options.publicUrl?.replace(/\/+$/, '')
  let draining = false
  const metrics = new Metrics()
  const inFlight = new InFlight()
  const signInRates = options.limits?.signIn ?? DEFAULT_SIGN_IN
  const leaseMs = options.limits?.leaseMs ?? JOB_LIMITS.leaseMs
  const countClaim = metrics.claim.bind(metrics)
  const world = openWorld({
    store,
    log,
    now,
    random,
    signInRates,
    baseUrl: () => base ?? '',
    urlFor: (host) => dialledUrl(host, { known: base ?? '', secure: options.listen.tls !== undefined }),
    leaseMs,
    countClaim,
    models: options,
    channelKey: keys.channelKeys,
    agents: {
      mountKey: keys.mounts,
      callKey: keys.calls,
      installation: keys.fingerprint,
      ...(options.presets === undefined ? {} : { presets: options.presets }),
      ...(options.gate === undefined ? {} : { gate: options.gate }),
      ...(options.gateWaitMs === undefined ? {} : { gateWaitMs: options.gateWaitMs }),
    },
  })
  const { audit } = world
  // Nobody could renew a lease while we were away: whoever comes back in time goes on with what they held.
  await store.leases.grace(leaseMs)
  // A database file has one gateway: whatever is reserved in it was reserved by one that is dead.
  if (store.engine === 'sqlite') await settleReservations(store.usages, log, now() + 1)
  const signInTokens = openSignInTokens({ key: keys.jwt, signIns: store.signIns, now, random })
  const externalTokens = options.jwks === undefined ? undefined : openExternalTokens(options.jwks, store.users, now)
  const identify = openIdentify({ store, signInTokens, externalTokens, workerTokens, now })
  const roleService = openRoleServices({
    world,
    version: options.version,
    log,
    count: metrics.countTool,
    inFlight,
    extraTools: options.tools ?? [],
  })
  const lastUse = openLastUse(store.tokens, log, now)
  const calls = options.limits?.calls ?? DEFAULT_CALLS
  const authenticate = openAuthenticate({
    identify,
    meters: new MeterTable(calls, PEOPLE_METERED_MAX, now),
    hears: () => store.topics.hears(),
    now,
    seen: ({ tokenId }) => (tokenId === null ? undefined : lastUse.seen(tokenId)),
  })
  const observer = openObserver({ metrics, audit, log, now })
  const localMeter = new Meter(calls, now)

  const servers: HttpServer<GatewayCaller>[] = []
  const health = healthRoutes({ store, version: options.version, draining: () => draining, now })
  const measured = metricsRoute(() =>
    metrics.render({
      sessions: sessions(),
      audit: audit.counts(),
      rssBytes: process.memoryUsage.rss(),
      heapBytes: process.memoryUsage().heapUsed,
    }),
  )
  const models = openModelProxy({ ...world, counts: metrics.models })
  const tunnel = new Tunnels(world, (claim, caller, executor) => executorRefusal(store, claim, caller, executor))
  const agents = new AgentServices(world, tunnel, { version: options.version, ...options.limits })
  const serviceFor = (caller: GatewayCaller) =>
    (caller.agentId === null ? undefined : agents.of(caller.agentId)) ?? roleService(caller)
  /** An agent finds its compositor behind the door, so that is opened first. */
  const letIn = (caller: GatewayCaller) => (caller.role === 'agent' ? agents.ready(caller) : caller)
  const auth = authRoutes({ world, authenticate, signInTokens, signup: options.signup, metrics, log })
  const sessions = () => servers.reduce((sum, server) => sum + server.links(), 0)
  const shared = {
    stateKey: keys.requestState,
    observer,
    now,
    tunnel,
    ...(options.limits?.wire === undefined ? {} : { limits: options.limits.wire }),
  }

  const close = async (graceMs: number): Promise<void> => {
    draining = true
    models.drain()
    const deadline = now() + graceMs
    world.watch.close()
    world.desk.polls.close()
    world.hostControls.close()
    await inFlight.idle(graceMs)
    tokenWatch.stop()
    await agents.close()
    await timers.stop()
    await sweeper.stop()
    await world.gateways.close()
    world.workers.close()
    const left = Math.max(FAREWELL_MS, deadline - now())
    await Promise.all(servers.map((server) => server.close(left)))
    // Streams that outlasted the grace are cut by now; what passed of them is booked.
    await models.close()
    await world.desk.close()
    await world.directory.close()
    await lastUse.close()
    await audit.close()
  }
  const door = (authenticated: Door<GatewayCaller>['authenticate'], again = authenticated): Door<GatewayCaller> => ({
    authenticate(credentials) {
      if (draining) throw new Denied(503, 'draining', 'shutting down; come back in a moment', RETRY_SECONDS)
      const caller = authenticated(credentials)
      return caller instanceof Promise ? caller.then(letIn) : letIn(caller)
    },
    // What is under way may end while we go.
    again,
    serviceFor,
  })
  const tokenWatch = openTokenWatch({
    topics: store.topics,
    authenticate,
    identify,
    servers,
    log,
    now,
    recheckMs: options.limits?.recheckMs ?? RECHECK_MS,
  })
  const sweeper = openSweeper(store, log, now, world.callChain)
  const timers = openTimers(store.news, log)

  try {
    const trace = openSettingsTrace(audit, localCaller(localMeter), now)
    await seedChannels({ ...world, trace }, log, options.channels ?? [])
    const front = await openHttpServer<GatewayCaller>({
      ...shared,
      listen: options.listen,
      door: door(authenticate, (credentials) => authenticate.again(credentials)),
      routes: [auth, health, measured, models.route, ...(options.page === undefined ? [] : [pageRoute(options.page)])],
      allowedHosts: allowedHosts(options),
      queryToken: options.queryToken,
      ...(options.trustedProxies === undefined ? {} : { trustedProxies: options.trustedProxies }),
    })
    servers.push(front)
    base ??= front.url
    await world.gateways.announce(workerUrl(options, front.url))
    if (options.adminSocket !== undefined)
      servers.push(
        await openHttpServer<GatewayCaller>({
          ...shared,
          listen: { socketPath: options.adminSocket },
          door: door(async () => localCaller(localMeter, await store.users.oldestAdmin())),
          routes: [health, measured],
        }),
      )
    const firstAdmin = await welcomeFirstAdmin(world, { ...options.firstAdmin, starter: localCaller(localMeter) })
    const url = front.url
    return {
      url,
      mcp: `${url}/mcp`,
      ws: `${url.replace(/^http/, 'ws')}/api/mcp/ws`,
      ...(firstAdmin === undefined ? {} : { firstAdmin }),
      sessions,
      close,
    }
  } catch (error) {
    await close(0)
    throw error
  }
}

/** Each must be one that fits into `Authorization: Bearer <token>`, or no worker could ever show it, and say of what kind its bearer is. */
function checkWorkerTokens(tokens: WorkerTokens): void {
  const seen = new Set<string>()
  for (const { role, token } of fixedTokens(tokens)) {
    const variable = `PARLEY_${role.toUpperCase()}_TOKEN`
    const refused = (words: string): GatewayRefused => new GatewayRefused(`${role}_token_invalid`, `${variable} ${words}`)
    if (token.length < WORKER_TOKEN_MIN_CHARS) throw refused(`must have at least ${WORKER_TOKEN_MIN_CHARS} characters`)
    if (!isTokenText(token)) throw refused('may hold letters, digits and - . _ ~ + / alone, with = at the end')
    if (seen.has(token)) throw refused('must differ from those of the other workers')
    seen.add(token)
  }
}

/** A gateway that listens on all addresses does not know which of them workers would reach it by. */
function workerUrl({ listen, publicUrl, workerUrl: told }: GatewayOptions, url: string): string {
  return told ?? (isWildcard(listen.host) ? (publicUrl ?? url) : url)
}

const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::'

/** The names under which this gateway may be called: what it listens on, what it is known as, and what it is told. */
function allowedHosts({ listen, publicUrl, workerUrl: forWorkers, allowedHosts: told }: GatewayOptions): string[] {
  const known = [publicUrl, forWorkers].flatMap((url) => (url === undefined ? [] : (URL.parse(url)?.hostname ?? [])))
  return [...(told ?? []), ...known, ...(isWildcard(listen.host) ? [] : [listen.host])]
}
