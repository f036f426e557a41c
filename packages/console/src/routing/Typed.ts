/** Texts that people have typed and that no program has taken yet, in whichever field of the page they stand. */

type Field = HTMLInputElement | HTMLTextAreaElement

/** Fields whose text is no work: filters, codes, and names that are typed to confirm. */
export const passing =
  "[type=search], [type=checkbox], [type=radio], [type=file], [role=combobox], [role=search] *, [data-passing], [data-passing] *"

const fieldOf = (target: EventTarget | null): Field | null =>
  (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) && !target.matches(passing)
    ? target
    : null

/** The text of a field when it got the focus, or when it was last taken. */
const taken = new WeakMap<Field, string>()

const typed = new Set<Field>()

const holds = (field: Field): boolean =>
  field.isConnected && field.value !== "" && field.value !== (taken.get(field) ?? field.defaultValue)

/** The fields with a text that would be lost. */
export const typedFields = (): ReadonlyArray<Field> => {
  for (const field of typed) if (!field.isConnected) typed.delete(field)
  return [...typed].filter(holds)
}

/** Returns the label of a field on the page. */
export const labelOf = (field: Field): string =>
  (field.labels?.[0]?.textContent ?? field.getAttribute("aria-label") ?? "a field").trim()

export const forgetText = (field: Field): void => {
  taken.set(field, field.value)
}

const fieldsIn = (element: Element | null): ReadonlyArray<Field> =>
  [...(element?.querySelectorAll("input, textarea") ?? [])].flatMap((one) => fieldOf(one) ?? [])

/** Notes the texts of a form as they are now. The function that it returns marks them as taken. */
export const takeTexts = (form: Element | null): (() => void) => {
  const texts = fieldsIn(form).map((field) => [field, field.value] as const)
  return () => {
    for (const [field, text] of texts) taken.set(field, text)
  }
}

/** Notices what is typed on the page. */
export const watchTyping = (): void => {
  document.addEventListener("focusin", ({ target }) => {
    const field = fieldOf(target)
    if (field !== null && !typed.has(field)) taken.set(field, field.value)
  })
  document.addEventListener(
    "input",
    ({ target }) => {
      const field = fieldOf(target)
      if (field !== null) typed.add(field)
    },
    { capture: true }
  )
}
