/** The usual names of stages, from the first to the last. Others come before them, by name. */
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

/** Orders environments by their stages. */
export const byStage = (a: Named, b: Named): number => rankOf(a.name) - rankOf(b.name) || (a.name < b.name ? -1 : 1)
