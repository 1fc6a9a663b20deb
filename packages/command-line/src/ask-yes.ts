import type { Io } from './io.ts'

/** More than this is no answer to such a question. */
const ANSWER_CHARACTERS = 1_024

/** Whether there is somebody to be asked, and something to ask them on. */
export const canAsk = ({ isTerminal, stdin }: Pick<Io, 'isTerminal' | 'stdin'>): boolean => isTerminal && stdin.isTTY

/** Asks on the terminal. Nothing but Return means what `usual` says; the end of the input or Ctrl-C means no. */
export function askYes({ stdin, err, onSignal }: Io, question: string, usual: 'yes' | 'no' = 'yes'): Promise<boolean> {
  err(`${question} ${usual === 'yes' ? '[Y/n]' : '[y/N]'} `)
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
      const word = (line ?? '').trim()
      if (more.length > 0) answer(word === '' ? usual === 'yes' : /^y(es)?$/i.test(word))
    }
    const ignore = onSignal(no)
    stdin.on('data', take)
    stdin.on('end', no)
    stdin.resume()
  })
}
