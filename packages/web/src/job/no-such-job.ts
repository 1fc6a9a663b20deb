import { element } from '../element.ts'

/** Says the same of a job that never was, one that is gone and one of somebody else: whose it is is nobody's business. */
export function noSuchJob(id: string): HTMLElement {
  return element(
    'section',
    { class: 'card narrow' },
    element('h2', {}, 'No such job'),
    element('p', {}, 'There is no job ', element('code', {}, id), ' that you may see. It may be gone, or somebody else’s.'),
    element('p', {}, element('a', { href: '/' }, 'All your jobs')),
  )
}
