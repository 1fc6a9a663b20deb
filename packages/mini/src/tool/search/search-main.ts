import { parentPort, workerData } from 'node:worker_threads'
import { PathRefused, refusedBySystem } from '../folder/path-refused.ts'
import { searchFiles } from './search-files.ts'
import type { SearchNews } from './search-news.ts'
import { readSearchOrder } from './search-order.ts'

const tell = (news: SearchNews): void => parentPort?.postMessage(news)
const order = readSearchOrder(workerData)
try {
  tell({ kind: 'begun' })
  tell({ kind: 'done', sums: searchFiles(order, (found) => tell({ kind: 'found', found })) })
} catch (error) {
  const refused = error instanceof PathRefused ? error : refusedBySystem(order.path, error)
  tell({ kind: 'refused', message: refused.message })
}
