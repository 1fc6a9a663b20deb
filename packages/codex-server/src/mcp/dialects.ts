import type { EventDialect } from '../event/translator.ts'
import { FACTS as NEWER } from './0.153/facts.ts'
import { FACTS as OLDER } from './0.44/facts.ts'
import type { DialectFacts } from './dialect-facts.ts'

export const DIALECTS: Readonly<Record<EventDialect, DialectFacts>> = { '0.44': OLDER, '0.153': NEWER }
