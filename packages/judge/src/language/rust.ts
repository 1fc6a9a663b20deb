import { type LanguageData, PLAIN, RUNTIME_BUILD_MEMORY_BYTES } from './language-data.ts'

/** Rust by rustc, without crates. */
export const RUST: LanguageData = {
  ...PLAIN,
  language: 'rust',
  title: 'Rust 2021',
  tool: 'rustc',
  behindShim: ['../../.rustup/toolchains/stable-*/bin', '../../.rustup/toolchains/*/bin'],
  source: 'main.rs',
  build: {
    command: ['{tool}', '--edition=2021', '-O', 'main.rs', '-o', 'main'],
    program: 'main',
    environment: {},
    memoryBytes: RUNTIME_BUILD_MEMORY_BYTES,
    header: null,
  },
  run: ['./main'],
  memorySigns: ['memory allocation of'],
}
