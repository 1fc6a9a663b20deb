import { type LanguageData, PLAIN } from './language-data.ts'

/** Python 3 by CPython. */
export const PYTHON: LanguageData = {
  ...PLAIN,
  language: 'python',
  title: 'Python',
  tool: 'python3',
  behindShim: ['../versions/*/bin'],
  source: 'main.py',
  check: ['{tool}', '-m', 'py_compile', 'main.py'],
  run: ['{tool}', 'main.py'],
  // The order of a set must not differ between two runs of one case.
  environment: { PYTHONHASHSEED: '0', PYTHONDONTWRITEBYTECODE: '1' },
  memoryAllowanceBytes: 16 * 1024 * 1024,
  memorySigns: ['MemoryError'],
  crashSigns: ['Traceback (most recent call last)', 'SyntaxError: '],
}
