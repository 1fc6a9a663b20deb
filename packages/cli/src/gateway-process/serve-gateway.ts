import { type GatewayOptions, createLogger, hasSecret, openGateway, presetsIn } from '@parley/gateway'
import type { Store } from '@parley/store'
import { CommandError } from '@parley/command-line'
import { logLine } from '@parley/screen'
import { parse as parseToml } from 'smol-toml'
import { channelSeedsOf, quotaOf } from '../config/gateway-models.ts'
import type { Settings } from '../config/setting.ts'
import { type DataDir, dataDirAt, makeDataDir } from '../data/data-dir.ts'
import { forgetDatabase, noteDatabase } from '../data/database-note.ts'
import { readPage, unbuiltPage } from '../data/page-files.ts'
import { scriptsOf } from '../data/scripts.ts'
import { ensureSecret, readSecret } from '../data/secret.ts'
import { ownVersion } from '../version.ts'
import { checkExposure, isNameless } from './exposure.ts'
import { isPostgres } from '../config/database-url.ts'
import { listenFailure } from './listen-failure.ts'
import { openDatabase } from './open-database.ts'
import type { GatewayPlan, Ready } from './plan.ts'
import { readTls } from './read-tls.ts'

export interface GatewayPorts {
  readonly random: (size: number) => Uint8Array
  /** Where log lines go, and whether a person reads them there. */
  readonly err: (text: string) => void
  readonly isTerminal: boolean
}
export interface ServedGateway {
  readonly ready: Ready
  close(graceMs: number): Promise<void>
}

/** Opens data folder, database and gateway, in this order: whoever holds the lock owns everything else in the folder. */
export async function serveGateway(
  { settings, cwd }: GatewayPlan,
  { random, err: tell, isTerminal }: GatewayPorts,
): Promise<ServedGateway> {
  const tls = readTls(settings, '.')
  checkExposure({ host: settings.host, hasTls: tls !== undefined, insecure: settings.insecure })
  const data = dataDirAt(cwd, settings.dataDir)
  const err = isTerminal ? (line: string): void => tell(logLine(line, 'gateway')) : tell
  const log = createLogger({ level: settings.logLevel, destination: { write: err }, secrets: secretsOf(settings) })
  if (makeDataDir(data).isOpenToOthers) log.warn({ path: data.path }, 'the data folder is open to other users: chmod 700 it')
  if (isNameless(settings)) log.warn('other machines are turned away until --public-url or PARLEY_ALLOWED_HOSTS names this one')
  const store = await openDatabase(settings, data, cwd)
  try {
    if (settings.databaseUrl !== undefined && isPostgres(settings.databaseUrl)) noteDatabase(data, settings.databaseUrl)
    else forgetDatabase(data)
    const gateway = await openGateway({
      store,
      secret: settings.secret === undefined ? await secretFor(store, data, random) : Buffer.from(settings.secret),
      listen: { host: settings.host, port: settings.port, ...(tls === undefined ? {} : { tls }) },
      ...optional(settings, data),
      allowedHosts: settings.allowedHosts,
      trustedProxies: settings.trustedProxies,
      signup: settings.signup,
      queryToken: settings.queryToken,
      limits: { leaseMs: settings.judgeLeaseMs },
      firstAdmin: {
        username: settings.adminUsername,
        ...(settings.adminPassword === undefined ? {} : { password: settings.adminPassword }),
      },
      channels: channelSeedsOf(settings),
      scripts: scriptsOf(data),
      quota: quotaOf(settings),
      gate: settings.gateDefault,
      gateWaitMs: settings.gateWaitMs,
      presets: presetsIn(data.presets, parseToml),
      log,
      now: store.now,
      random,
      page: readPage() ?? unbuiltPage(),
      version: ownVersion(),
    }).catch((error: unknown) => {
      throw listenFailure(error, settings)
    })
    const { url, mcp, ws, firstAdmin } = gateway
    return {
      ready: { url, mcp, ws, sign_in: firstAdmin?.signIn ?? null, admin: firstAdmin?.username ?? null, data: data.path },
      close: async (graceMs) => {
        await gateway.close(graceMs)
        await store.close()
      },
    }
  } catch (error) {
    await store.close()
    throw error
  }
}

/** The secret in the data folder, made at the first start. Beside a database that has one already another would be of no use. */
async function secretFor(store: Store, data: DataDir, random: GatewayPorts['random']): Promise<Uint8Array> {
  if (readSecret(data.secret) === undefined && (await hasSecret(store)))
    throw new CommandError('secret_missing', `${data.secret} is not there, and this database was made with one`, {
      hint: 'copy it (mode 600) from DATA/secret of the instance that the database or backup comes from, or set PARLEY_SECRET to what stands in it',
    })
  return ensureSecret(data.secret, random)
}

function optional(settings: Settings, data: DataDir): Partial<GatewayOptions> {
  const { jwksUrl, jwksIssuer, jwksAudience, jwksClaim, publicUrl, judgeToken } = settings
  const { hostToken, executorToken, workerUrl } = settings
  return {
    // On PostgreSQL several gateways may share a folder, and commands go to the database itself.
    ...(isPostgres(settings.databaseUrl) ? {} : { adminSocket: data.adminSocket }),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(judgeToken === undefined ? {} : { judgeToken }),
    ...(hostToken === undefined ? {} : { hostToken }),
    ...(executorToken === undefined ? {} : { executorToken }),
    ...(workerUrl === undefined ? {} : { workerUrl }),
    ...(jwksUrl === undefined
      ? {}
      : {
          jwks: {
            url: jwksUrl,
            issuer: jwksIssuer ?? '',
            audience: jwksAudience ?? '',
            ...(jwksClaim === undefined ? {} : { claim: jwksClaim }),
          },
        }),
  }
}

function secretsOf(settings: Settings): string[] {
  const { secret, judgeToken, hostToken, executorToken, adminPassword, modelApiKey, channels } = settings
  const keys = channels.map(({ api_key }) => api_key)
  return [secret, judgeToken, hostToken, executorToken, adminPassword, modelApiKey, ...keys].filter((text) => text !== undefined)
}
