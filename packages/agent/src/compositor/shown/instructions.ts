import type { CompositorLimits } from '../compositor-limits.ts'

export interface MountInstructions {
  readonly name: string
  readonly isPlain: boolean
  readonly instructions: string | undefined
}

const CUT = ' […]'

/** What all mounts have to say, as one text. One that says too much is cut, and so is the whole. */
export function banner(
  mounts: readonly MountInstructions[],
  { instructionBytes, instructionBytesPerMount }: Pick<CompositorLimits, 'instructionBytes' | 'instructionBytesPerMount'>,
): string | undefined {
  const parts = mounts.flatMap(({ name, isPlain, instructions = '' }) => {
    const words = cutBytes(instructions.trim(), instructionBytesPerMount)
    if (words === '') return []
    return [isPlain ? words : `## ${name}\nTools and prompts that begin with \`${name}_\`.\n\n${words}`]
  })
  return parts.length === 0 ? undefined : cutBytes(parts.join('\n\n'), instructionBytes)
}

/** Within a number of bytes, and never in the middle of a character. */
function cutBytes(text: string, limitBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= limitBytes) return text
  // What is left of a character that was cut becomes U+FFFD.
  return `${bytes
    .subarray(0, limitBytes - Buffer.byteLength(CUT))
    .toString()
    .replace(/\uFFFD+$/u, '')}${CUT}`
}
