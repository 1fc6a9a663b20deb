import type { Language } from '@parley/protocol'
import type { SetProgram } from './dialect.ts'
import { sum } from './task.ts'

const JAVA = (body: string): string => `import java.util.Scanner;
public class Main {
  static long dig(long x) { return dig(x + 1) + 1; }
  public static void main(String[] arguments) {
    Scanner in = new Scanner(System.in);
    long s = 0, n = 0;
    while (in.hasNextLong()) { s += in.nextLong(); n++; }
    ${body}
  }
}
`
const RUST = (body: string): string => `use std::io::Read;
fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let v: Vec<i64> = text.split_whitespace().map(|x| x.parse().unwrap()).collect();
    let s: i64 = v.iter().sum();
    ${body}
}
`
const written = (
  language: Language,
  write: (body: string) => string,
  bodies: Readonly<Record<string, string>>,
): readonly SetProgram[] =>
  Object.entries(bodies).map(([name, body]) => ({ name, language, code: write(body), answer: sum, burns: false }))

/** A few programs in languages that not every machine has. */
export const MORE_PROGRAMS: readonly SetProgram[] = [
  ...written('java', JAVA, {
    sum: 'System.out.println(s);',
    'one too many': 'System.out.println(s + 1);',
    'an error in the second case': 'System.out.println(s); System.out.flush(); if (n > 5) throw new IllegalStateException();',
    'exit code 42': 'System.out.println(s); System.exit(42);',
    'broken source': 'System.out.println(s',
  }),
  ...written('rust', RUST, {
    sum: 'println!("{}", s);',
    'one too many': 'println!("{}", s + 1);',
    'an error in the second case': 'println!("{}", s); if v.len() > 5 { panic!("as it should be"); }',
    'exit code 42': 'println!("{}", s); std::process::exit(42);',
    abort: 'println!("{}", s); std::process::abort();',
    'broken source': 'println!("{}", s',
  }),
]
