/** What a program of the set does, in the two ways of writing that its languages share. */
export interface Task {
  readonly name: string
  /** What is right for the numbers that are read. */
  readonly answer: (numbers: readonly number[]) => string
  /**
   * For C, C++, JavaScript and TypeScript, which differ here only in how a number is declared: `NUM x = 0;`. The numbers are
   * `v[0]` to `v[n - 1]`; `put(x)` prints a number and a line feed, `text("…")` prints as it is, `burn(ms)` takes time.
   */
  readonly braces: string
  /** For Python: `v`, `n`, `put`, `text` and `burn` mean the same. */
  readonly python: string
}

export const sum = (numbers: readonly number[]): string => `${numbers.reduce((total, number) => total + number, 0)}`
const lines = (numbers: readonly number[]): string => numbers.join('\n')
const gcd = (left: number, right: number): number => (right === 0 ? left : gcd(right, left % right))
const loop = (body: string): string => `for (NUM i = 0; i < n; i++) { ${body} }`

export const SUM = `NUM s = 0; ${loop('s += v[i];')} `
export const SUM_PYTHON = 's = sum(v)\n'

/** Those that are right, some of them in an odd layout. */
export const RIGHT: readonly Task[] = [
  { name: 'sum', answer: sum, braces: `${SUM} put(s);`, python: `${SUM_PYTHON}put(s)` },
  {
    name: 'largest',
    answer: (numbers) => `${Math.max(...numbers)}`,
    braces: `NUM best = v[0]; ${loop('if (v[i] > best) best = v[i];')} put(best);`,
    python: 'put(max(v))',
  },
  {
    name: 'sorted',
    answer: (numbers) => lines(numbers.toSorted((left, right) => left - right)),
    braces: `for (NUM i = 0; i < n; i++) for (NUM j = i + 1; j < n; j++) if (v[j] < v[i]) { NUM t = v[i]; v[i] = v[j]; v[j] = t; } ${loop('put(v[i]);')}`,
    python: 'for x in sorted(v): put(x)',
  },
  {
    name: 'greatest common divisor',
    answer: (numbers) => `${numbers.reduce(gcd)}`,
    braces: `NUM g = 0; for (NUM i = 0; i < n; i++) { NUM a = v[i]; while (a != 0) { NUM t = g % a; g = a; a = t; } } put(g);`,
    python: 'import math\nput(math.gcd(*v))',
  },
  {
    name: 'even ones',
    answer: (numbers) => `${numbers.filter((number) => number % 2 === 0).length}`,
    braces: `NUM c = 0; ${loop('if (v[i] % 2 == 0) c++;')} put(c);`,
    python: 'put(sum(1 for x in v if x % 2 == 0))',
  },
  {
    name: 'reversed',
    answer: (numbers) => lines(numbers.toReversed()),
    braces: 'for (NUM i = n - 1; i >= 0; i--) put(v[i]);',
    python: 'for x in v[::-1]: put(x)',
  },
  {
    name: 'running sums',
    answer: (numbers) => lines(numbers.map((_, index) => Number(sum(numbers.slice(0, index + 1))))),
    braces: `NUM s = 0; ${loop('s += v[i]; put(s);')}`,
    python: 's = 0\nfor x in v:\n    s += x\n    put(s)',
  },
  {
    name: 'primes below',
    answer: ([first = 0]) => `${countPrimes(first * 20)}`,
    braces:
      'NUM c = 0; for (NUM p = 2; p < v[0] * 20; p++) { NUM ok = 1; for (NUM d = 2; d * d <= p; d++) if (p % d == 0) { ok = 0; break; } c += ok; } put(c);',
    python: 'put(sum(all(p % d for d in range(2, int(p ** 0.5) + 1)) for p in range(2, v[0] * 20)))',
  },
  {
    name: 'many numbers',
    answer: ([first = 0]) => lines(Array.from({ length: 2_000 }, (_, index) => (index * first) % 1_009)),
    braces: 'for (NUM i = 0; i < 2000; i++) put((i * v[0]) % 1009);',
    python: 'for i in range(2000): put(i * v[0] % 1009)',
  },
  {
    name: 'in an odd layout',
    answer: sum,
    braces: `${SUM} text("\\n \\t "); put(s); text("\\n\\n  ");`,
    python: `${SUM_PYTHON}text("\\n \\t ")\nput(s)\ntext("\\n\\n  ")`,
  },
  {
    name: 'with carriage returns',
    answer: (numbers) => `${sum(numbers)} 1`,
    braces: `${SUM} put(s); text("\\r\\n1\\r\\n");`,
    python: `${SUM_PYTHON}put(s)\ntext("\\r\\n1\\r\\n")`,
  },
  {
    name: 'without a last line feed',
    answer: (numbers) => `${sum(numbers)} 1`,
    braces: `${SUM} put(s); text("1");`,
    python: `${SUM_PYTHON}put(s)\ntext("1")`,
  },
  { name: 'after a little work', answer: sum, braces: `burn(60); ${SUM} put(s);`, python: `burn(60)\n${SUM_PYTHON}put(s)` },
]

function countPrimes(below: number): number {
  let count = 0
  for (let candidate = 2; candidate < below; candidate += 1) {
    let divisor = 2
    while (divisor * divisor <= candidate && candidate % divisor !== 0) divisor += 1
    if (divisor * divisor > candidate) count += 1
  }
  return count
}

/** Those that are wrong, in all cases or in one. */
export const WRONG: readonly Task[] = [
  {
    name: 'misses the last',
    answer: sum,
    braces: 'NUM s = 0; for (NUM i = 0; i + 1 < n; i++) s += v[i]; put(s);',
    python: 'put(sum(v[:-1]))',
  },
  { name: 'counts the first twice', answer: sum, braces: `${SUM} put(s + v[0]);`, python: `${SUM_PYTHON}put(s + v[0])` },
  { name: 'one too many', answer: sum, braces: `${SUM} put(s + 1);`, python: `${SUM_PYTHON}put(s + 1)` },
  {
    name: 'in the wrong order',
    answer: (numbers) => lines(numbers.toReversed()),
    braces: loop('put(v[i]);'),
    python: 'for x in v: put(x)',
  },
  { name: 'says more than asked', answer: sum, braces: `${SUM} put(s); text("ok");`, python: `${SUM_PYTHON}put(s)\ntext("ok")` },
  { name: 'says nothing', answer: sum, braces: '', python: 'pass' },
  { name: 'says only white space', answer: sum, braces: 'text("  \\n \\n");', python: 'text("  \\n \\n")' },
  {
    name: 'wrong for large ones',
    answer: sum,
    braces: `${SUM} if (v[0] > 5) s = s - 1; put(s);`,
    python: `${SUM_PYTHON}put(s - 1 if v[0] > 5 else s)`,
  },
  {
    name: 'runs numbers together',
    answer: (numbers) => `${sum(numbers)} 1`,
    braces: `${SUM} put(s * 10 + 1);`,
    python: `${SUM_PYTHON}put(s * 10 + 1)`,
  },
  { name: 'another spelling', answer: sum, braces: `${SUM} text("0"); put(s);`, python: `${SUM_PYTHON}text("0")\nput(s)` },
  { name: 'stops half way', answer: (numbers) => lines(numbers), braces: 'put(v[0]);', python: 'put(v[0])' },
]

/** Those that take clearly more time than they have, all of them only in the second case. */
export const SLOW: readonly Task[] = [
  {
    name: 'slow, then right',
    answer: sum,
    braces: `if (v[0] > 5) burn(900); ${SUM} put(s);`,
    python: `if v[0] > 5: burn(900)\n${SUM_PYTHON}put(s)`,
  },
  {
    name: 'slow, then wrong',
    answer: sum,
    braces: `if (v[0] > 5) burn(900); put(v[0]);`,
    python: `if v[0] > 5: burn(900)\nput(v[0])`,
  },
  {
    name: 'right, then without end',
    answer: sum,
    braces: `${SUM} put(s); if (v[0] > 5) burn(60000);`,
    python: `${SUM_PYTHON}put(s)\nif v[0] > 5: burn(60000)`,
  },
]
