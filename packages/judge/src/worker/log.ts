/** Where the worker says what it does. Never a token, never what a program printed. */
export type Log = (level: 'debug' | 'info' | 'warn' | 'error', message: string) => void
