import * as z from 'zod'

/** What people and programs call a host or an executor. Never to be taken for a URL. */
export const WorkerName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'must have 1 to 63 letters, digits, - _ or ., and begin with a letter or digit')
