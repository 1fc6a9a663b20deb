import type { Io } from '../command-line/io.ts'

/** More than this is no answer to such a question. */
const ANSWER_CHARACTERS = 1_024

/** Whether there is somebody to be asked, and something to ask them on. */
export const canAsk = ({ isTerminal, stdin }: Pick<Io, 'isTerminal' | 'stdin'>): boolean => isTerminal && stdin.isTTY

/** Asks on the terminal; nothing but Return means yes, the end of the input or Ctrl-C means no. */
export function askYes({ stdin, err, onSignal }: Io, question: string): Promise<boolean> {
  err(`${question} [Y/n] `)
  return new Promise((resolve) => {
    let typed = ''
    const answer = (yes: boolean): void => {
      ignore()
      stdin.off('data', take)
      stdin.off('end', no)
      stdin.pause()
      resolve(yes)
    }
    const no = (): void => {
      err('\n')
      answer(false)
    }
    const take = (chunk: Buffer | string): void => {
      typed += chunk.toString()
      if (typed.length > ANSWER_CHARACTERS) return no()
      const [line, ...more] = typed.split(/\r?\n|\r/)
      if (more.length > 0) answer(/^(y(es)?)?$/i.test((line ?? '').trim()))
    }
    const ignore = onSignal(no)
    stdin.on('data', take)
    stdin.on('end', no)
    stdin.resume()
  })
}
