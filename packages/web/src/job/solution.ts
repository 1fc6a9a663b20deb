import type { Solution } from '@parley/protocol'
import { element } from '../element.ts'
import { parseInline } from '../markdown/parse-markdown.ts'
import { showMarkdown } from '../markdown/show-markdown.ts'
import { plainText } from '../text/plain-text.ts'

/** What the agent says about the solution, and about the code that it was given. */
export function solutionCard(solution: Solution): HTMLElement {
  const { user_feedback_md, solution_idea, seed_code_bug_reason, complexity, assumptions } = solution
  return element(
    'section',
    { class: 'card', 'aria-label': 'Explanation' },
    element('h3', {}, 'Explanation'),
    element('div', { class: 'words' }, ...showMarkdown(user_feedback_md)),
    element(
      'dl',
      {},
      ...row('Idea', solution_idea),
      ...row('What was wrong', seed_code_bug_reason),
      ...row('Complexity', complexity),
      ...row('Assumptions', assumptions.join('\n')),
    ),
  )
}

function row(name: string, text: string): readonly HTMLElement[] {
  if (text.trim() === '') return []
  const parts = parseInline(plainText(text)).map((inline) =>
    inline.kind === 'text' ? inline.text : element(inline.kind === 'code' ? 'code' : 'strong', {}, inline.text),
  )
  return [element('dt', {}, name), element('dd', {}, ...parts)]
}
