import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Part } from './part.ts'

/** More than anybody reads; a tool that prints without end must not fill our memory. */
const OUTPUT_LIMIT_CHARS = 200_000

/** A check that is a program, run once for each list of arguments: it complains with its exit code, and its output is the complaint. */
export function commandPart(name: string, program: string, ...lines: readonly (readonly string[])[]): Part {
  return {
    name,
    run: async (root) => {
      const complaints: string[] = []
      for (const args of lines) complaints.push(...(await runCommand(root, program, args)))
      return complaints
    },
  }
}

async function runCommand(root: string, program: string, args: readonly string[]): Promise<readonly string[]> {
  const bin = join(root, 'node_modules/.bin')
  const path = program === 'node' ? process.execPath : join(bin, program)
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}`, NO_COLOR: '1' }
  const child = spawn(path, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const keep = (chunk: Buffer): void => {
    if (output.length < OUTPUT_LIMIT_CHARS) output += chunk.toString('utf8')
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  return code === 0 ? [] : [`${program} ${args.join(' ')} ended with ${code ?? 'a signal'}\n${output.trimEnd()}`]
}
