import * as z from 'zod'

const Found = z.object({ path: z.string(), line: z.int(), text: z.string() })
export type Found = z.infer<typeof Found>

const SearchSums = z.object({
  files: z.int(),
  binary: z.int(),
  tooLarge: z.int(),
  /** Why it ended before everything was searched. */
  cutBy: z.enum(['results', 'bytes', 'entries']).nullable(),
})
export type SearchSums = z.infer<typeof SearchSums>

/** What the thread that searches says. */
export const SearchNews = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('begun') }),
  z.object({ kind: z.literal('found'), found: z.array(Found) }),
  z.object({ kind: z.literal('refused'), message: z.string() }),
  z.object({ kind: z.literal('done'), sums: SearchSums }),
])
export type SearchNews = z.infer<typeof SearchNews>
