type Attributes = Readonly<Record<string, string | (() => void)>>

/** Makes an element. Text goes in as text, never as markup; a function becomes a listener for the event of that name. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name, value)
    else made.setAttribute(name, value)
  }
  made.append(...children)
  return made
}
