import { heldClients } from './fixture/held-clients.ts'

heldClients(['SDK 2.4 in the legacy era', 'SDK 2.4 in the modern era'])
