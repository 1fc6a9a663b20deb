import { once } from 'node:events'
import { ZipFile } from 'yazl'

/** The 0/1 knapsack as seed clients hand it in: five cases, a greedy solution that is wrong, and one that is right. */
export const STATEMENT = `# 0/1 knapsack

The first line holds \`n\` and the capacity \`W\`, each of the next \`n\` lines a weight and a value.
Print the greatest value that fits; each item is taken once or not at all.
`

interface Knapsack {
  readonly capacity: number
  readonly items: readonly (readonly [weight: number, value: number])[]
  readonly best: number
  /** What taking the best value per weight first comes to. */
  readonly greedy: 'AC' | 'WA'
}

export const CASES: readonly Knapsack[] = [
  {
    capacity: 4,
    items: [
      [3, 5],
      [2, 3],
      [2, 3],
    ],
    best: 6,
    greedy: 'WA',
  },
  {
    capacity: 0,
    items: [
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 4],
      [5, 5],
    ],
    best: 0,
    greedy: 'AC',
  },
  {
    capacity: 10,
    items: [
      [5, 6],
      [5, 4],
      [9, 9],
      [10, 9],
    ],
    best: 10,
    greedy: 'AC',
  },
  {
    capacity: 10,
    items: [
      [6, 10],
      [5, 8],
      [5, 7],
      [4, 4],
      [9, 9],
    ],
    best: 15,
    greedy: 'WA',
  },
  {
    capacity: 11,
    items: [
      [1, 1],
      [2, 6],
      [5, 18],
      [6, 22],
      [7, 28],
      [8, 9],
    ],
    best: 40,
    greedy: 'WA',
  },
]

export const inputOf = ({ capacity, items }: Knapsack): string =>
  `${items.length} ${capacity}\n${items.map(([weight, value]) => `${weight} ${value}\n`).join('')}`

const READ = `#include <algorithm>
#include <iostream>
#include <vector>
struct Item { int weight; long long value; };
int main() {
  int n, capacity;
  std::cin >> n >> capacity;
  std::vector<Item> items(n);
  for (auto& item : items) std::cin >> item.weight >> item.value;
`

export const GREEDY = `${READ}  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.value * b.weight > b.value * a.weight; });
  long long total = 0;
  for (const auto& item : items)
    if (item.weight <= capacity) capacity -= item.weight, total += item.value;
  std::cout << total << "\\n";
}
`

export const RIGHT = `${READ}  std::vector<long long> best(capacity + 1);
  for (const auto& item : items)
    for (int c = capacity; c >= item.weight; c--) best[c] = std::max(best[c], best[c - item.weight] + item.value);
  std::cout << best[capacity] << "\\n";
}
`

/** `tests.zip` of the five cases, in base64. */
export async function knapsackZip(): Promise<string> {
  const files = CASES.flatMap((one, index): [string, string][] => [
    [`tests/${index + 1}.in`, inputOf(one)],
    [`tests/${index + 1}.out`, `${one.best}\n`],
  ])
  return (await zipOf(Object.fromEntries(files))).toString('base64')
}

export async function zipOf(files: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const zip = new ZipFile()
  for (const [path, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), path)
  zip.end()
  const chunks: Buffer[] = []
  zip.outputStream.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(zip.outputStream, 'end')
  return Buffer.concat(chunks)
}
