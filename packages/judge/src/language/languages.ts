import { C } from './c.ts'
import { CPP } from './cpp.ts'
import { GO } from './go.ts'
import { JAVA } from './java.ts'
import { JAVASCRIPT, TYPESCRIPT } from './javascript.ts'
import type { LanguageData } from './language-data.ts'
import { PYTHON } from './python.ts'
import { RUST } from './rust.ts'

/** Every language that a judge knows; which of them its machine has is found by asking. */
export const LANGUAGES: readonly LanguageData[] = [...CPP, C, PYTHON, JAVASCRIPT, TYPESCRIPT, JAVA, RUST, GO]
