import { element } from '../element.ts'

/** The parts that say who writes the solution. A script is called one, so that nobody takes it for a model. */
export function modelName(model: string | null, isScript: boolean): readonly (Node | string)[] {
  if (model === null) return [element('span', { class: 'quiet' }, 'judged as it is')]
  return isScript ? [element('span', { class: 'tag' }, 'script'), ' ', model] : [model]
}
