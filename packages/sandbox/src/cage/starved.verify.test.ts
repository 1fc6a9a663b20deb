import { starvedIn } from '../testing/starved-in.ts'

starvedIn([
  ['user namespaces', { driver: 'cage', tier: 'user-namespaces' }],
  ['Landlock', { driver: 'cage', tier: 'landlock' }],
  ['bubblewrap', { driver: 'bwrap' }],
])
