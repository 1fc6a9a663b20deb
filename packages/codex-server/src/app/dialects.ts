import { FACTS as OLDER } from './0.42/facts.ts'
import { FACTS as NEWER } from './0.44/facts.ts'
import type { AppDialect } from './app-server-options.ts'
import type { DialectFacts } from './dialect-facts.ts'

export const DIALECTS: Readonly<Record<AppDialect, DialectFacts>> = { '0.42': OLDER, '0.44': NEWER }
