import type { OptionSpec } from '@parley/command-line'

/** For every command that works on an instance of this machine. */
export const INSTANCE_OPTIONS = {
  data: {
    doc: 'the folder of the instance (PARLEY_DATA_DIR, default .parley of the clone, else your data folder)',
    value: 'DIR',
    isFile: true,
  },
  database: { doc: 'postgres://… or an SQLite file (PARLEY_DATABASE_URL, default DATA/parley.db)', value: 'URL' },
  config: {
    doc: 'the settings file (PARLEY_CONFIG, default your own parley.toml; see parley help trust)',
    value: 'FILE',
    isFile: true,
  },
} as const satisfies Record<string, OptionSpec>

/** For every command that listens. */
export const LISTEN_OPTIONS = {
  port: { doc: 'the port; 0: any free one (PARLEY_PORT, default 7400)', value: 'PORT' },
  host: { doc: 'the address to listen on (PARLEY_HOST, default 127.0.0.1)', value: 'ADDRESS' },
  'tls-cert': { doc: 'certificate file (PARLEY_TLS_CERT)', value: 'FILE', isFile: true },
  'tls-key': { doc: 'key file (PARLEY_TLS_KEY)', value: 'FILE', isFile: true },
  'public-url': { doc: 'how people reach it, when not by --host (PARLEY_PUBLIC_URL)', value: 'URL' },
  insecure: { doc: 'allows plain HTTP on an address that other machines reach' },
} as const satisfies Record<string, OptionSpec>
