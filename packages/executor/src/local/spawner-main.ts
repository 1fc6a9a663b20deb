import { runSpawner } from './spawner.ts'

runSpawner(process.argv[2] ?? '')
