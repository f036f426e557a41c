/** The usual names of stages, from the first to the last. Other environments come before them, by name. */
const stages = [
  /^(local|dev|development)/,
  /^(test|qa|ci|preview)/,
  /^(stage|staging|uat|pre)/,
  /^(prod|production|live)/
]

const rankOf = (name: string): number => stages.findIndex((pattern) => pattern.test(name))

interface Named {
  readonly name: string
}

const byStage = (a: Named, b: Named): number => rankOf(a.name) - rankOf(b.name) || (a.name < b.name ? -1 : 1)

/** Returns environments by stage, then by name: every list for people has this order. */
export const inStageOrder = <A extends Named>(environments: ReadonlyArray<A>): ReadonlyArray<A> =>
  [...environments].sort(byStage)
