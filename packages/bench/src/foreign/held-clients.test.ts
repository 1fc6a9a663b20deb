import { heldClients } from './fixture/held-clients.ts'

heldClients(['SDK 1.32'])
