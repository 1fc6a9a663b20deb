import type { Audience } from './roles.ts'

/** One kind of resource as data. `{name}` in the URI is a variable; without one it is listed, with one it is a template. */
export interface ResourceSpec {
  readonly uri: string
  readonly name: string
  readonly roles: readonly Audience[]
  readonly doc: string
  readonly mimeType: string
}

/** Every resource that works today. Which topics of the store mean that one changed is said where it is served. */
export const RESOURCES = {
  'resource://account': {
    uri: 'resource://account',
    name: 'account',
    roles: ['user', 'judge'],
    doc: 'Who the token says you are; changes when your account does.',
    mimeType: 'application/json',
  },
  'resource://users/list': {
    uri: 'resource://users/list',
    name: 'users',
    roles: ['admin'],
    doc: 'The accounts.',
    mimeType: 'application/json',
  },
  'resource://tokens/list': {
    uri: 'resource://tokens/list',
    name: 'tokens',
    roles: ['admin'],
    doc: 'The tokens, without their secrets.',
    mimeType: 'application/json',
  },
} as const satisfies Record<string, ResourceSpec>

export type ResourceUri = keyof typeof RESOURCES
