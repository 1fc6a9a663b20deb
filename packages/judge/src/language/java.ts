import { type LanguageData, PLAIN, RUNTIME_BUILD_MEMORY_BYTES } from './language-data.ts'

/** Java: the class is `Main`, or the public one of the source. */
export const JAVA: LanguageData = {
  ...PLAIN,
  language: 'java',
  title: 'Java',
  tool: 'javac',
  version: ['-version'],
  source: '{name}.java',
  build: {
    // One file has to come out, however many classes there are.
    command: [
      '/bin/sh',
      '-c',
      '"$1" -J-Xmx1024m -J-XX:+UseSerialGC -encoding UTF-8 -d classes "$2" && "$3" --create --file main.jar --main-class "$4" -C classes .',
      'build',
      '{tool}',
      '{name}.java',
      '{folder}/jar',
      '{name}',
    ],
    shown: ['javac', '{name}.java'],
    program: 'main.jar',
    environment: {},
    memoryBytes: RUNTIME_BUILD_MEMORY_BYTES,
    header: null,
  },
  run: ['{folder}/java', '-Xmx{memory_mb}m', '-Xss64m', '-XX:+UseSerialGC', '-XX:-UsePerfData', '-jar', 'main.jar'],
  memoryAllowanceBytes: 256 * 1024 * 1024,
  memorySigns: ['java.lang.OutOfMemoryError'],
  crashSigns: ['Exception in thread "main"'],
}
