import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { outputOf } from '../measure/output-of.ts'

const MAIN = join(dirname(fileURLToPath(import.meta.url)), 'bare-main.ts')
const Bare = z.object({ totalMs: z.number(), times: z.array(z.number()), residentMb: z.number() })
export type Bare = z.infer<typeof Bare>

/** The same program without a judge: started by a small Node process, read to its end. */
export async function bareRuns(
  program: readonly string[],
  options: { readonly runs: number; readonly lanes: number; readonly input: string },
): Promise<Bare> {
  const args = ['--runs', String(options.runs), '--lanes', String(options.lanes), '--input', options.input]
  return Bare.parse(JSON.parse(await outputOf(process.execPath, [MAIN, ...args, '--', ...program])))
}
