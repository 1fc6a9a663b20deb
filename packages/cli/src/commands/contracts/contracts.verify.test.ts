import { asRecorded } from '../../contracts/fixture/as-recorded.ts'

asRecorded('codex-0.42', '0.42.0')
asRecorded('codex-0.44', '0.44.0')
asRecorded('codex-0.153', '0.153.4')
