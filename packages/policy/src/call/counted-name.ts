import { hashOf } from './digest.ts'

/** Strangers choose names: of longer ones a hash is kept. */
const KEPT_CHARS = 256
const HASHED = 'sha256:'

/** The name by which calls are counted. */
export const countedName = (name: string): string => (name.length > KEPT_CHARS ? `${HASHED}${hashOf(name)}` : name)

/** Whether patterns cannot be tried on it any more. */
export const isHashedName = (name: string): boolean => name.startsWith(HASHED)
