import type { Spoken } from './word.ts'

type Pair = readonly [recorded: Spoken | undefined, ours: Spoken | undefined]

/** Pairs the messages of two talks in order, as many as go together; what has no partner stands alone. */
export function aligned(recorded: readonly Spoken[], ours: readonly Spoken[]): readonly Pair[] {
  const lengths = commonLengths(recorded, ours)
  const pairs: Pair[] = []
  let [left, right] = [0, 0]
  while (left < recorded.length || right < ours.length) {
    const [one, other] = [recorded[left], ours[right]]
    if (one !== undefined && one.word === other?.word) {
      pairs.push([one, other])
      left += 1
      right += 1
    } else if (
      other === undefined ||
      (one !== undefined && longest(lengths, left + 1, right) >= longest(lengths, left, right + 1))
    ) {
      pairs.push([one, undefined])
      left += 1
    } else {
      pairs.push([undefined, other])
      right += 1
    }
  }
  return pairs
}

const longest = (lengths: readonly (readonly number[])[], left: number, right: number): number => lengths[left]?.[right] ?? 0

/** For every two ends of the talks, how many messages they have in common. */
function commonLengths(recorded: readonly Spoken[], ours: readonly Spoken[]): readonly (readonly number[])[] {
  const lengths = Array.from({ length: recorded.length + 1 }, () => Array.from({ length: ours.length + 1 }, () => 0))
  for (let left = recorded.length - 1; left >= 0; left--)
    for (let right = ours.length - 1; right >= 0; right--) {
      const row = lengths[left]
      if (row === undefined) continue
      const isSame = recorded[left]?.word === ours[right]?.word
      row[right] = isSame
        ? longest(lengths, left + 1, right + 1) + 1
        : Math.max(longest(lengths, left + 1, right), longest(lengths, left, right + 1))
    }
  return lengths
}
