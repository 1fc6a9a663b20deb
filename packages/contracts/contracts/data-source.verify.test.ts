import { ownTypes } from './fixture/own-types.ts'

ownTypes('0.42.0')
ownTypes('0.44.0')
ownTypes('0.153.4')
