import { APPROVAL_LIMITS } from '@parley/protocol'
import * as z from 'zod'
import { defaultDataDir } from '../data/default-data-dir.ts'
import { maskChannels } from './channel-setting.ts'
import { databaseFrom, pathFrom } from './from-file.ts'
import {
  Bound,
  Channels,
  HttpUrl,
  LeaseMs,
  ModelMs,
  Names,
  Port,
  Switch,
  Text,
  Tries,
  WaitMs,
  WorkerToken,
} from './setting-shapes.ts'
import type { SettingSpec } from './setting-spec.ts'

const DEFAULT_PORT = 7400
const SECRET_BYTES = 32
const DEFAULT_LEASE_MS = 30_000

/** Every setting. `config check`, the loader and the reference are made from this. */
export const SETTINGS = {
  dataDir: {
    key: 'data_dir',
    flag: 'data',
    env: ['PARLEY_DATA_DIR'],
    schema: Text,
    fallback: defaultDataDir,
    fromFile: pathFrom,
    doc: 'where this instance keeps its files',
  },
  databaseUrl: {
    key: 'database_url',
    flag: 'database',
    env: ['PARLEY_DATABASE_URL'],
    schema: Text.refine(
      (text) => /^(postgres|postgresql|sqlite):/.test(text) || !text.includes('://'),
      'must be a postgres:// URL or the path of an SQLite file',
    ).optional(),
    fromFile: databaseFrom,
    isSecret: true,
    doc: 'PostgreSQL, or another SQLite file than DATA/parley.db',
  },
  host: { key: 'host', flag: 'host', env: ['PARLEY_HOST'], schema: Text.default('127.0.0.1'), doc: 'the address to listen on' },
  port: {
    key: 'port',
    flag: 'port',
    env: ['PARLEY_PORT'],
    schema: Port.default(DEFAULT_PORT),
    doc: 'the port to listen on; 0: any free one',
  },
  tlsCert: {
    key: 'tls_cert',
    flag: 'tls-cert',
    env: ['PARLEY_TLS_CERT'],
    schema: Text.optional(),
    fromFile: pathFrom,
    doc: 'certificate file (PEM)',
  },
  tlsKey: {
    key: 'tls_key',
    flag: 'tls-key',
    env: ['PARLEY_TLS_KEY'],
    schema: Text.optional(),
    fromFile: pathFrom,
    doc: 'key file (PEM)',
  },
  insecure: {
    key: 'insecure',
    flag: 'insecure',
    env: ['PARLEY_INSECURE'],
    schema: Switch.default(false),
    doc: 'allows plain HTTP beyond loopback',
  },
  publicUrl: {
    key: 'public_url',
    flag: 'public-url',
    env: ['PARLEY_PUBLIC_URL'],
    schema: HttpUrl.optional(),
    doc: 'how people reach the gateway, behind a proxy for example',
  },
  allowedHosts: {
    key: 'allowed_hosts',
    env: ['PARLEY_ALLOWED_HOSTS'],
    schema: Names.default([]),
    doc: 'further names that Host and Origin may carry',
  },
  trustedProxies: {
    key: 'trusted_proxies',
    env: ['PARLEY_TRUSTED_PROXIES'],
    schema: Names.default([]),
    doc: 'addresses whose X-Forwarded-For counts',
  },
  secret: {
    key: 'secret',
    env: ['PARLEY_SECRET'],
    schema: Text.refine((text) => Buffer.byteLength(text) >= SECRET_BYTES, `must have at least ${SECRET_BYTES} bytes`).optional(),
    isSecret: true,
    doc: 'what all keys are derived from; generated into DATA/secret when missing',
  },
  signup: {
    key: 'signup',
    env: ['PARLEY_SIGNUP'],
    schema: Switch.default(false),
    doc: 'whether people may make their own accounts',
  },
  queryToken: {
    key: 'query_token',
    env: ['PARLEY_QUERY_TOKEN'],
    schema: Switch.default(true),
    doc: 'whether ?token= works on the WebSocket',
  },
  judgeToken: {
    key: 'judge_token',
    env: ['PARLEY_JUDGE_TOKEN', 'REALMOI_JUDGE_MCP_TOKEN'],
    schema: WorkerToken,
    isSecret: true,
    doc: 'one fixed token for judges',
  },
  hostToken: {
    key: 'host_token',
    env: ['PARLEY_HOST_TOKEN'],
    schema: WorkerToken,
    isSecret: true,
    doc: 'one fixed token for hosts',
  },
  executorToken: {
    key: 'executor_token',
    env: ['PARLEY_EXECUTOR_TOKEN'],
    schema: WorkerToken,
    isSecret: true,
    doc: 'one fixed token for executors',
  },
  workerUrl: {
    key: 'worker_url',
    env: ['PARLEY_WORKER_URL'],
    schema: HttpUrl.optional(),
    doc: 'where hosts and executors reach this very gateway (default: where it listens, or public_url on all addresses)',
  },
  judgeLeaseMs: {
    key: 'judge_lease_ms',
    env: ['PARLEY_JUDGE_LEASE_MS'],
    schema: LeaseMs.default(DEFAULT_LEASE_MS),
    doc: 'after how long without a word from its judge a job goes to another, in milliseconds',
  },
  gateDefault: {
    key: 'gate.default',
    env: ['PARLEY_GATE_DEFAULT'],
    schema: z.enum(['deny', 'ask', 'allow'], { error: 'must be deny, ask or allow' }).default('ask'),
    doc: 'what is decided about a call of an agent that no rule of any policy covers; ask: a person is asked',
  },
  gateWaitMs: {
    key: 'gate.wait_ms',
    env: ['PARLEY_GATE_WAIT_MS'],
    schema: WaitMs.default(APPROVAL_LIMITS.ttlMs),
    doc: 'how long a call waits for a person at most, in milliseconds',
  },
  adminUsername: {
    key: 'admin.username',
    env: ['PARLEY_ADMIN_USERNAME'],
    schema: Text.default('admin'),
    doc: 'name of the first admin',
  },
  adminPassword: {
    key: 'admin.password',
    env: ['PARLEY_ADMIN_PASSWORD'],
    schema: Text.min(10, 'must have at least 10 characters').optional(),
    isSecret: true,
    doc: 'password of the first admin; without one there is a one-time link',
  },
  jwksUrl: { key: 'jwks.url', env: ['PARLEY_JWKS_URL'], schema: HttpUrl.optional(), doc: 'keys of an identity provider' },
  jwksIssuer: { key: 'jwks.issuer', env: ['PARLEY_JWKS_ISSUER'], schema: Text.optional(), doc: 'its issuer' },
  jwksAudience: {
    key: 'jwks.audience',
    env: ['PARLEY_JWKS_AUDIENCE'],
    schema: Text.optional(),
    doc: 'the audience its tokens must name',
  },
  jwksClaim: {
    key: 'jwks.claim',
    env: ['PARLEY_JWKS_CLAIM'],
    schema: Text.optional(),
    doc: 'a claim that holds our user name, for users without an identity; never lets an admin in (default: none)',
  },
  modelBaseUrl: { key: 'model.base_url', env: ['PARLEY_MODEL_BASE_URL'], schema: HttpUrl.optional(), doc: 'where models are' },
  modelApiKey: {
    key: 'model.api_key',
    env: ['PARLEY_MODEL_API_KEY', 'OPENAI_API_KEY'],
    schema: Text.optional(),
    isSecret: true,
    doc: 'the key for it',
  },
  modelWire: {
    key: 'model.wire',
    env: ['PARLEY_MODEL_WIRE'],
    schema: z.enum(['responses', 'chat'], { error: 'must be responses or chat' }).default('responses'),
    doc: 'how it is spoken to',
  },
  models: { key: 'model.names', env: ['PARLEY_MODELS'], schema: Names.default([]), doc: 'the models on offer' },
  modelTries: {
    key: 'model.tries',
    env: ['PARLEY_MODEL_TRIES'],
    schema: Tries.optional(),
    doc: 'how often a judge sends one request to a model that is overloaded or cannot be reached (15)',
  },
  modelWaitMs: {
    key: 'model.wait_ms',
    env: ['PARLEY_MODEL_WAIT_MS'],
    schema: ModelMs.optional(),
    doc: 'how long the waits between these tries may be together, in milliseconds (300000)',
  },
  modelSilentMs: {
    key: 'model.silent_ms',
    env: ['PARLEY_MODEL_SILENT_MS'],
    schema: ModelMs.optional(),
    doc: 'how long a model may take to begin its answer, in milliseconds (180000)',
  },
  channels: {
    key: 'channels',
    env: [],
    schema: Channels,
    shown: (value) => maskChannels(Channels.parse(value)),
    doc: 'further ways to models, each a [[channels]]',
  },
  quotaJobsAtOnce: {
    key: 'quota.jobs_at_once',
    env: ['PARLEY_QUOTA_JOBS_AT_ONCE'],
    schema: Bound,
    doc: 'jobs that one person may have waiting and running',
  },
  quotaTokensPerDay: {
    key: 'quota.tokens_per_day',
    env: ['PARLEY_QUOTA_TOKENS_PER_DAY'],
    schema: Bound,
    doc: 'tokens that one person may use in a UTC day',
  },
  quotaMicrousdPerDay: {
    key: 'quota.microusd_per_day',
    env: ['PARLEY_QUOTA_MICROUSD_PER_DAY'],
    schema: Bound,
    doc: 'micro-USD that one person may spend in a UTC day',
  },
  sandboxRead: {
    key: 'sandbox.read',
    env: ['PARLEY_SANDBOX_READ'],
    schema: Names.refine(
      (paths) => paths.every((path) => /^(\/|~\/|~$)/.test(path)),
      'must be absolute paths, or begin with ~/',
    ).default([]),
    doc: 'folders that commands in the sandbox may read beside the system: toolchains in /opt, ~/.cargo',
  },
  logLevel: {
    key: 'log',
    flag: 'log',
    env: ['PARLEY_LOG'],
    schema: z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
        error: 'must be trace, debug, info, warn, error, fatal or silent',
      })
      .default('info'),
    doc: 'how much is logged',
  },
} as const satisfies Record<string, SettingSpec>

export type SettingName = keyof typeof SETTINGS
/** All settings, checked, defaults filled in. */
export type Settings = { readonly [Name in SettingName]: z.output<(typeof SETTINGS)[Name]['schema']> }

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name)
}

/** Variables that are ours but no settings: they are read elsewhere. */
export const OTHER_VARIABLES = [
  'PARLEY_CACHE',
  'PARLEY_CACHE_DIR',
  'PARLEY_CONFIG',
  'PARLEY_URL',
  'PARLEY_TOKEN',
  'PARLEY_DEBUG',
  'PARLEY_SETUP',
  'PARLEY_STATUS_SOCKET',
  'PARLEY_LIFELINE_FD',
]
